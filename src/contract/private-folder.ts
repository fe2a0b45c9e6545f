/** Folders of our own: nobody else on the machine looks into them, and no version control takes them along. */
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** What a gateway keeps beside its config, unless it is told otherwise. */
export const STATE_FOLDER = ".isthmus";

/**
 * Makes the folder and those above it that are missing. Where the state folder is one of them, git is told to leave it out. Says
 * which was the first that was missing.
 */
export function makePrivateFolder(folder: string): string | undefined {
  const first = mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (let made = first === undefined ? "" : folder; made.length >= (first?.length ?? 1); made = dirname(made)) {
    if (basename(made) === STATE_FOLDER) writeFileSync(join(made, ".gitignore"), "*\n", { mode: 0o600 });
  }
  return first;
}
