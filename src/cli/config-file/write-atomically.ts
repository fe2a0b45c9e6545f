/** Files of the user are replaced whole or not at all, whoever reads them at that moment. */
import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { Ending } from "../ending.ts";
import { objectOf } from "../json.ts";

/** Undefined when there is no such file. Throws Ending when it cannot be read. */
export function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw new Ending("file", [`${file}: cannot be read (${codeOf(error)}); check its permissions`]);
  }
}

/**
 * Writes beside the file and renames. Permissions and owner stay; a link goes on pointing where it does. `mode` is for a
 * file that is new. Throws Ending; nothing has changed then.
 */
export function writeAtomically(file: string, content: string | Buffer, mode = 0o644): void {
  const target = followLink(file);
  const fresh = `${target}.${process.pid}.tmp`;
  try {
    const before = statSync(target, { throwIfNoEntry: false });
    writeNew(fresh, Buffer.from(content), before ? before.mode & 0o777 : mode);
    if (before) keepOwner(fresh, before);
    renameSync(fresh, target);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw new Ending("file", [`${file}: cannot be written (${codeOf(error)}); check the permissions of its folder`]);
  }
}

function writeNew(file: string, content: Buffer, mode: number): void {
  const handle = openSync(file, "wx", mode);
  try {
    for (let at = 0; at < content.length; ) at += writeSync(handle, content, at);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  // What a umask took away.
  chmodSync(file, mode);
}

/** Only who may give files away can keep a foreign owner. */
function keepOwner(file: string, { uid, gid }: { uid: number; gid: number }): void {
  const own = statSync(file);
  if (own.uid !== uid || own.gid !== gid) chownSync(file, uid, gid);
}

function followLink(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}

function codeOf(error: unknown): string {
  return String(objectOf(error).code ?? error);
}
