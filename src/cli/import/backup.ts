/**
 * The client's file as it was before it was pointed at us, kept beside it. The name of the backup holds a digest of what
 * we wrote, so that undoing can tell whether anybody has changed the file since, and a seal, so that it can tell its own
 * backups from files that somebody else has put there.
 */
import { createHash, createHmac } from "node:crypto";
import { lstatSync, readdirSync, realpathSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { readIfThere, type UserFile, writeAtomically, writeOwn, writtenFile } from "../config-file/write-atomically.ts";
import { Ending } from "../ending.ts";

const MARK = ".isthmus-backup-";
const DIGEST_LENGTH = 6;
/** Whoever has no key has one guess with each file that they put there. A longer name is broken by terminals of 80 columns. */
const SEAL_LENGTH = 10;
/** When it was made, the digest of what was written then, and the seal. */
const NAME = new RegExp(`^(\\d{17})-([0-9a-f]{${DIGEST_LENGTH}})([0-9a-f]{${SEAL_LENGTH}})$`);

export type Replacement = {
  /** What the file held when it was read. */
  readonly read: string;
  readonly after: string;
  readonly now: Date;
};

/** Keeps the file, then writes it anew. Returns where it is kept. Throws Ending; nothing has changed then. */
export function replaceWithBackup(place: UserFile, key: Buffer, { read, after, now }: Replacement): string {
  const { file } = place;
  const before = readIfThere(file);
  if (before === undefined || !before.equals(Buffer.from(read))) {
    throw new Ending("file", [`${file}: was changed meanwhile, or is no UTF-8; it was left as it is, try again`]);
  }
  writtenFile(place);
  const stamp = now.toISOString().replace(/\D/g, "").slice(0, 17);
  const written = digest(Buffer.from(after));
  const backup = `${file}${MARK}${stamp}-${written}${sealOf({ file, stamp, written, before }, key)}`;
  writeOwn(backup, before, statSync(file).mode & 0o777);
  try {
    writeAtomically(place, after);
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

export type Backups = {
  /** The newest one that was made with this key. */
  readonly own: string | undefined;
  /** What is named like one: by somebody else, of another place, or by an Isthmus before seals. */
  readonly foreign: readonly string[];
};

/** What lies beside a file. */
export function findBackups(file: string, key: Buffer | undefined): Backups {
  const folder = dirname(file);
  const start = `${basename(file)}${MARK}`;
  const names = namesIn(folder).filter((name) => name.startsWith(start));
  const isOwn = (name: string) => key !== undefined && isSealed(file, join(folder, name), key);
  const own = names.filter(isOwn).toSorted().at(-1);
  const foreign = names.filter((name) => !isOwn(name)).map((name) => join(folder, name));
  return { own: own === undefined ? undefined : join(folder, own), foreign };
}

/** Puts the newest backup back, byte for byte. A file that was changed since is kept beside it. Throws Ending. */
export function undo(place: UserFile, key: Buffer | undefined): Undone {
  const { file } = place;
  const { own: backup } = findBackups(file, key);
  const before = backup === undefined ? undefined : readIfThere(backup);
  if (backup === undefined || before === undefined) {
    throw new Ending("file", [`${file}: there is no backup beside it; nothing was changed`]);
  }
  writtenFile(place);
  const current = readIfThere(file);
  const isChanged = current !== undefined && !backup.includes(`-${digest(current)}`, file.length);
  const changedKept = isChanged ? `${file}.before-undo` : undefined;
  if (changedKept !== undefined && current) writeOwn(changedKept, current);
  writeAtomically(place, before, statSync(backup).mode & 0o777);
  rmSync(backup);
  return { file, changedKept };
}

/** Nothing but plain files is read. */
function isSealed(file: string, backup: string, key: Buffer): boolean {
  const [, stamp = "", written = "", seal] = NAME.exec(backup.slice(`${file}${MARK}`.length)) ?? [];
  if (seal === undefined || !lstatSync(backup).isFile()) return false;
  const before = readIfThere(backup);
  return before !== undefined && seal === sealOf({ file, stamp, written, before }, key);
}

type Sealed = { readonly file: string; readonly stamp: string; readonly written: string; readonly before: Buffer };

function sealOf({ file, stamp, written, before }: Sealed, key: Buffer): string {
  const place = join(realpathSync(dirname(file)), basename(file));
  const kept = createHash("sha256").update(before).digest("hex");
  const hmac = createHmac("sha256", key).update(JSON.stringify([place, stamp, written, kept]));
  return hmac.digest("hex").slice(0, SEAL_LENGTH);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function digest(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex").slice(0, DIGEST_LENGTH);
}
