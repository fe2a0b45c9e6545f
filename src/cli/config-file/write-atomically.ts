/** Files of the user are replaced whole or not at all, whoever reads them at that moment. */
import { lstatSync, readFileSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, relative, sep } from "node:path";
import { replaceFile } from "../../contract/index.ts";
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
 * A file that people edit. `project`: the folder that it came in, whose links others may have made; unset for a place of the
 * user's own.
 */
export type UserFile = { readonly file: string; readonly project: string | undefined };

/**
 * Writes beside the file and renames. Permissions and owner stay; a link goes on pointing where it does. `mode` is for a
 * file that is new. Throws Ending; nothing has changed then.
 */
export function writeAtomically(place: UserFile, content: string | Buffer, mode = 0o644): void {
  const target = writtenFile(place);
  try {
    const before = statSync(target, { throwIfNoEntry: false });
    const kept = before && { mode: before.mode & 0o777, uid: before.uid, gid: before.gid };
    replaceFile(target, content, kept ?? { mode });
  } catch (error) {
    throw new Ending("file", [
      `${place.file}: cannot be written (${codeOf(error)}); check the permissions of its folder`,
    ]);
  }
}

/** For files of our own beside those of the user: whatever is there goes, and no link is followed. Throws Ending. */
export function writeOwn(file: string, content: string | Buffer, mode = 0o600): void {
  try {
    replaceFile(file, content, { mode });
  } catch (error) {
    throw new Ending("file", [`${file}: cannot be written (${codeOf(error)}); check the permissions of its folder`]);
  }
}

/**
 * What writing changes, behind links that may be followed: of a project those that stay in it, and of a user those that they
 * made themselves, to files of their own. Throws Ending for others.
 */
export function writtenFile({ file, project }: UserFile): string {
  const real = realOf(file);
  // Nothing is there, or a link to nothing, which goes.
  if (real === undefined) return file;
  const refuse = (why: string) => {
    throw new Ending("file", [`${file}: is behind a link to ${real}, ${why}; to change that file, name it instead`]);
  };
  if (project !== undefined) {
    const inside = relative(realOf(project) ?? project, real);
    if (inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside))
      refuse(`which is outside of ${project}`);
  } else if (lstatSync(file).isSymbolicLink() && ![lstatSync(file).uid, statSync(real).uid].every(isOwn)) {
    refuse("and the link or the file belongs to another user");
  }
  return real;
}

function isOwn(uid: number): boolean {
  return process.getuid === undefined || uid === process.getuid();
}

function realOf(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}

function codeOf(error: unknown): string {
  return String(objectOf(error).code ?? error);
}
