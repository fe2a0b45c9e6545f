/** Files of our own: whole or not there, also for whoever looks in the moment in which they are made, and never behind a link. */
import { randomUUID } from "node:crypto";
import { chmodSync, chownSync, linkSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";

/** Of file systems that know one name for each file. */
const HAS_NO_LINKS: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "ENOSYS", "EOPNOTSUPP"]);

/** Makes the file, for its owner only. Throws EEXIST where it is there: of many who make it at once, one does. */
export function makePrivateFile(file: string, text: string | Buffer): void {
  const fresh = `${file}.${randomUUID()}.new`;
  const options = { mode: 0o600, flag: "wx", flush: true };
  try {
    writeFileSync(fresh, text, options);
    linkSync(fresh, file);
  } catch (error) {
    if (!HAS_NO_LINKS.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
    writeFileSync(file, text, options);
  } finally {
    rmSync(fresh, { force: true });
  }
}

export type FileRights = { readonly mode: number; readonly uid?: number; readonly gid?: number };

/**
 * Puts a new file in the place of whatever is there: a link goes, and what it led to stays as it is; so do the rights and the
 * owner that a file had. For its owner only, unless told otherwise.
 */
export function replaceFile(file: string, content: string | Buffer, rights: FileRights = { mode: 0o600 }): void {
  const fresh = `${file}.${randomUUID()}.new`;
  try {
    writeFileSync(fresh, content, { mode: 0o600, flag: "wx", flush: true });
    const own = statSync(fresh);
    const { mode, uid = own.uid, gid = own.gid } = rights;
    // Only who may give files away can give it another owner.
    if (own.uid !== uid || own.gid !== gid) chownSync(fresh, uid, gid);
    chmodSync(fresh, mode);
    renameSync(fresh, file);
  } finally {
    rmSync(fresh, { force: true });
  }
}
