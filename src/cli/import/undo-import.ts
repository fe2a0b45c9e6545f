/** Takes back `import --connect`: of the client that is named, else of every one that has a backup. */
import type { Environment } from "../../server/config/index.ts";
import { Ending } from "../ending.ts";
import { print, printJson, say } from "../output/console.ts";
import { shortPath } from "../output/short-path.ts";
import { findBackups, undo } from "./backup.ts";
import { readBackupKey } from "./backup-key.ts";
import { findSources, userFile } from "./find-sources.ts";

export function undoImport(word: string | undefined, env: Environment, isJson: boolean): void {
  const places = findSources(word, env).map(userFile);
  const key = readBackupKey();
  const found = places.map((place) => ({ place, ...findBackups(place.file, key) }));
  for (const file of found.flatMap(({ foreign }) => foreign))
    say(`${file} is left alone: it was not made here by your own import; if you know it, copy it back by hand`);
  const connected = found.filter(({ own }) => own !== undefined);
  if (connected.length === 0) {
    const what =
      word === undefined
        ? "no client's file was pointed at Isthmus by import --connect"
        : `${places.map(({ file }) => shortPath(file)).join(", ")} was not pointed at Isthmus by import --connect`;
    throw new Ending("file", [`${what} (there is no backup beside it), so there is nothing to undo`]);
  }
  const undone = connected.map(({ place }) => undo(place, key));
  if (isJson) return printJson({ undone });
  for (const { file, changedKept } of undone) {
    print(`${shortPath(file)} is as it was before.`);
    if (changedKept !== undefined)
      print(`  It had been changed since; that version is kept as ${shortPath(changedKept)}.`);
  }
  print("Restart the client to see it. The servers stay in the config of Isthmus.");
}
