/** By what `import --undo` knows the backups that `import --connect` of this user has made: anybody could put a file there. */
import { randomBytes } from "node:crypto";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { makePrivateFile, makePrivateFolder } from "../../contract/index.ts";
import { inspectFile } from "../../server/file-owners.ts";
import { ownUser } from "../../server/private-files.ts";
import { readIfThere } from "../config-file/write-atomically.ts";
import { Ending } from "../ending.ts";

const KEY_BYTES = 32;

function backupKeyFile(): string {
  return join(homedir(), ".config", "isthmus", "import.key");
}

/** The one that is there, else a new one. Throws Ending. */
export function makeBackupKey(file = backupKeyFile()): Buffer {
  try {
    makePrivateFolder(dirname(file));
    makePrivateFile(file, randomBytes(KEY_BYTES));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EEXIST") throw new Ending("file", [`${file}: cannot be written (${code}); nothing was connected`]);
  }
  return readBackupKey(file) ?? makeBackupKey(file);
}

/** Undefined: there is none, and so no backup. Throws Ending where others could know it. */
export function readBackupKey(file = backupKeyFile()): Buffer | undefined {
  const key = readIfThere(file);
  if (key === undefined) return undefined;
  const owner = ownUser();
  const refused = owner && inspectFile({ file, holds: "key" }, owner).find(({ isRefused }) => isRefused);
  if (refused) throw new Ending("file", [`${refused.file}: ${refused.found}; run: ${refused.fix}`]);
  if (key.length !== KEY_BYTES) throw new Ending("file", [`${file}: is no key; remove it, and a new one is made`]);
  return key;
}
