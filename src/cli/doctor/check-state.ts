/** Where the gateway keeps what it remembers: without it, it does not start. */
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Config } from "../../server/config/index.ts";
import { type Finding, problem } from "./finding.ts";

/** To look makes nothing. */
export function checkState({ state: { database } }: Pick<Config, "state">): Finding[] {
  if (database.kind !== "sqlite") return [];
  const { file } = database;
  const folder = nearestThere(dirname(file));
  const what =
    folderFault(folder) ?? (existsSync(file) && !canWrite(file) ? `${file} is closed to this user` : undefined);
  if (what === undefined) return [];
  const advice =
    'make it belong to the user the gateway runs as, or name another place: [database] url = "sqlite:PATH"';
  return [problem("state", `${file} cannot be written: ${what}`, advice)];
}

/** The folder itself, or the one in which it would be made. */
function nearestThere(folder: string): string {
  const above = dirname(folder);
  return existsSync(folder) || above === folder ? folder : nearestThere(above);
}

function folderFault(folder: string): string | undefined {
  if (!statSync(folder).isDirectory()) return `${folder} is not a folder`;
  return canWrite(folder) ? undefined : `${folder} is closed to this user`;
}

function canWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
