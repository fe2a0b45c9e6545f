/** Takes back `import --connect`: of the client that is named, else of every one that has a backup. */
import type { Environment } from "../../server/config/index.ts";
import { Ending } from "../ending.ts";
import { print, printJson } from "../output/console.ts";
import { shortPath } from "../output/short-path.ts";
import { findBackup, undo } from "./backup.ts";
import { findSources } from "./find-sources.ts";

export function undoImport(word: string | undefined, env: Environment, isJson: boolean): void {
  const files = findSources(word, env).map(({ file }) => file);
  const connected = files.filter((file) => findBackup(file) !== undefined);
  if (connected.length === 0) {
    const where = word === undefined ? "no known client's file" : files.join(", ");
    throw new Ending("file", [`${where}: has no backup beside it, so there is nothing to undo`]);
  }
  const undone = connected.map(undo);
  if (isJson) return printJson({ undone });
  for (const { file, changedKept } of undone) {
    print(`${shortPath(file)} is as it was before.`);
    if (changedKept !== undefined)
      print(`  It had been changed since; that version is kept as ${shortPath(changedKept)}.`);
  }
  print("Restart the client to see it. The servers stay in the config of Isthmus.");
}
