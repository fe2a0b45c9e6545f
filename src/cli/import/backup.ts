/**
 * The client's file as it was before it was pointed at us, kept beside it. The name of the backup holds a digest of what
 * we wrote, so that undoing can tell whether anybody has changed the file since.
 */
import { createHash } from "node:crypto";
import { readdirSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { readIfThere, writeAtomically } from "../config-file/write-atomically.ts";
import { Ending } from "../ending.ts";

const MARK = ".isthmus-backup-";

/**
 * Keeps the file, then writes it anew. `read` is what it held when it was read. Returns where it is kept. Throws Ending;
 * nothing has changed then.
 */
export function replaceWithBackup(file: string, read: string, after: string, now: Date): string {
  const before = readIfThere(file);
  if (before === undefined || !before.equals(Buffer.from(read))) {
    throw new Ending("file", [`${file}: was changed meanwhile, or is no UTF-8; it was left as it is, try again`]);
  }
  const stamp = now.toISOString().replace(/\D/g, "").slice(0, 17);
  const backup = `${file}${MARK}${stamp}-${digest(Buffer.from(after))}`;
  const mode = statSync(file).mode & 0o777;
  writeAtomically(backup, before, mode);
  try {
    writeAtomically(file, after);
  } catch (error) {
    rmSync(backup, { force: true });
    throw error;
  }
  return backup;
}

export type Undone = {
  readonly file: string;
  /** Where the file as it was until now is kept, when it had been changed since. */
  readonly changedKept: string | undefined;
};

/** The newest backup of a file. */
export function findBackup(file: string): string | undefined {
  const folder = dirname(file);
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return undefined;
  }
  const own = names.filter((name) => name.startsWith(`${basename(file)}${MARK}`)).toSorted();
  const newest = own.at(-1);
  return newest === undefined ? undefined : join(folder, newest);
}

/** Puts the newest backup back, byte for byte. A file that was changed since is kept beside it. */
export function undo(file: string): Undone {
  const backup = findBackup(file);
  const before = backup === undefined ? undefined : readIfThere(backup);
  if (backup === undefined || before === undefined) {
    throw new Ending("file", [`${file}: there is no backup beside it; nothing was changed`]);
  }
  const current = readIfThere(file);
  const isChanged = current !== undefined && !backup.endsWith(`-${digest(current)}`);
  const changedKept = isChanged ? `${file}.before-undo` : undefined;
  if (changedKept !== undefined && current) writeAtomically(changedKept, current, 0o600);
  writeAtomically(file, before, statSync(backup).mode & 0o777);
  rmSync(backup);
  return { file, changedKept };
}

function digest(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex").slice(0, 12);
}
