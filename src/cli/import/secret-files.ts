/** Secrets that leave a client's file get files of their own beside the config, which nobody else reads or commits. */
import { lstatSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { makePrivateFile, makePrivateFolder } from "../../contract/index.ts";
import { inspectFile } from "../../server/file-owners.ts";
import { hasModes } from "../../server/file-rights.ts";
import { ownUser } from "../../server/private-files.ts";
import { readIfThere, writeOwn } from "../config-file/write-atomically.ts";
import { Ending } from "../ending.ts";
import type { SecretFile } from "./import-plan.ts";
import { SECRET_FOLDER } from "./secret-paths.ts";

/** Throws Ending where it cannot be made. */
function makeFolder(folder: string): void {
  try {
    makePrivateFolder(folder);
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    throw new Ending("file", [`${folder}: cannot be made (${code}); check the permissions of the folders above it`]);
  }
}

/** Whether nothing is at that path, or a file of ours with just this value. */
export function isFreeFor(folder: string, { path, value }: SecretFile): boolean {
  const file = join(folder, path);
  const stats = lstatSync(file, { throwIfNoEntry: false });
  return stats === undefined || isKept(file, value);
}

/** Returns how to take it back. Throws Ending; nothing has changed then. */
export function writeSecrets(folder: string, secrets: readonly SecretFile[]): () => void {
  const written: string[] = [];
  const takeBack = () => {
    for (const file of written) rmSync(file, { force: true });
  };
  try {
    for (const { path, value } of secrets) {
      const file = join(folder, path);
      for (const place of placesAbove(path)) refuseForeign(join(folder, place));
      makeFolder(dirname(file));
      if (isKept(file, value)) continue;
      makeFile(file, textOf(value));
      written.push(file);
    }
    if (secrets.length > 0) keepFromGit(join(folder, SECRET_FOLDER, ".gitignore"));
  } catch (error) {
    takeBack();
    throw error;
  }
  return takeBack;
}

/** The folders of ours that a path leads through, the outermost first. */
function placesAbove(path: string): string[] {
  const names = dirname(path).split("/");
  return names.map((_, index) => names.slice(0, index + 1).join("/"));
}

/** A project may bring a folder of that name along, or a link that leads anywhere; others on the machine may have made it. */
function refuseForeign(folder: string): void {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (stats === undefined) return;
  const refuse = (why: string) => {
    throw new Ending("file", [`${folder}: ${why}; nothing was written`]);
  };
  if (stats.isSymbolicLink()) refuse("is a link, and secrets go to no other place than this; remove it");
  if (!stats.isDirectory()) refuse("is no folder; move it away");
  const owner = ownUser();
  const [found] = owner && hasModes(folder) ? inspectFile({ file: folder, holds: "trust" }, owner) : [];
  if (found) refuse(`secrets would go there, but ${found.file} ${found.found}; run: ${found.fix}`);
}

/** One line break at the end is not part of a secret when it is read. */
function textOf(value: string): string {
  return `${value}\n`;
}

/** As an import before this one has left it. Anything else may be what another server is given. */
function isKept(file: string, value: string): boolean {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  const owner = ownUser();
  const isPrivate = !owner || (stats?.uid === owner.uid && (stats.mode & 0o077) === 0);
  return stats?.isFile() === true && isPrivate && readIfThere(file)?.equals(Buffer.from(textOf(value))) === true;
}

function makeFile(file: string, text: string): void {
  try {
    makePrivateFile(file, text);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Ending("file", [`${file}: cannot be written (${code}); nothing was written`]);
  }
}

/** What is tracked there says nothing: a file of a project could name the secrets as to be committed. */
function keepFromGit(file: string): void {
  if (!isKept(file, "*")) writeOwn(file, textOf("*"));
}
