/** `remove`, `enable` and `disable`: one server's table in the config. A gateway that runs takes it over by itself. */

import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { nearest } from "../../server/config/nearest.ts";
import { type ConfigFile, check, findConfigFile, openConfigFile, writeConfigFile } from "../config-file/config-file.ts";
import { withDisabled, withoutServer } from "../config-file/edit-server.ts";
import { Ending } from "../ending.ts";
import { SECRET_FOLDER } from "../import/secret-paths.ts";
import { print, printJson } from "../output/console.ts";
import { shortPath } from "../output/short-path.ts";
import { PROGRAM } from "../program-name.ts";

export type ChangeOptions = { readonly config?: string; readonly json?: boolean };

/** Takes a server out of the config. Throws Ending; nothing has changed then. */
export function remove(id: string, options: ChangeOptions): void {
  const file = fileOf(id, options);
  write(file, withoutServer(file.text, file.order.indexOf(id)), id);
  const secrets = secretsOf(dirname(file.path), id);
  if (options.json) return printJson({ file: file.path, removed: id, ...(secrets.length > 0 && { secrets }) });
  print(`Removed ${id} from ${shortPath(file.path)}.`);
  const [first, ...others] = secrets;
  if (first === undefined) return;
  if (others.length === 0) print(`Its secret stays in ${shortPath(first)}; delete it if nothing else needs it.`);
  else print(`Its secrets stay in ${shortPath(dirname(first))}; delete them if nothing else needs them.`);
}

/** What import has put aside for it. Another server may have been given the same file by hand, so it is not taken away. */
function secretsOf(folder: string, id: string): readonly string[] {
  const place = join(folder, SECRET_FOLDER, id);
  try {
    return readdirSync(place).map((name) => join(place, name));
  } catch {
    return [];
  }
}

/** Leaves a server out, or takes it in again. Throws Ending; nothing has changed then. */
export function setDisabled(id: string, isDisabled: boolean, options: ChangeOptions): void {
  const file = fileOf(id, options);
  const text = withDisabled(file.text, file.order.indexOf(id), isDisabled);
  const hasChanged = text !== file.text;
  if (hasChanged) write(file, text, id);
  if (options.json) return printJson({ file: file.path, server: id, disabled: isDisabled, changed: hasChanged });
  const state = isDisabled ? "disabled" : "enabled";
  print(hasChanged ? `${id} is ${state} in ${shortPath(file.path)}.` : `${id} was ${state} already.`);
}

function fileOf(id: string, options: ChangeOptions): ConfigFile {
  const file = findConfigFile(options, id);
  if (file) return file;
  const { path, order, isNew } = openConfigFile(options);
  if (isNew) throw new Ending("usage", [`there is no config here; "${PROGRAM} add" makes one`]);
  const meant = nearest(id, order);
  const hint = meant === undefined ? `it has ${order.join(", ") || "none"}` : `did you mean "${meant}"?`;
  throw new Ending("usage", [
    `${shortPath(path)} has no server "${id}"; ${hint}`,
    "one that was added over the API is changed there: DELETE /api/servers/{id}",
  ]);
}

function write(file: ConfigFile, text: string | undefined, id: string): void {
  if (text === undefined)
    throw new Ending("file", [`${file.path}: "${id}" is not written as [[servers]]; edit the file by hand`]);
  check(file, text);
  writeConfigFile(file, text);
}
