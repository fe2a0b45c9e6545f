/** Secrets that leave a client's file get files of their own beside the config, which nobody else reads or commits. */
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeAtomically } from "../config-file/write-atomically.ts";
import type { SecretFile } from "./import-plan.ts";

/** Returns how to take it back. */
export function writeSecrets(folder: string, secrets: readonly SecretFile[]): () => void {
  const written: string[] = [];
  for (const { path, value } of secrets) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    // One line break at the end is not part of a secret when it is read.
    writeAtomically(file, `${value}\n`, 0o600);
    written.push(file);
  }
  const ignore = join(folder, ".isthmus", "secrets", ".gitignore");
  if (secrets.length > 0 && !existsSync(ignore)) writeAtomically(ignore, "*\n");
  return () => {
    for (const file of written) rmSync(file, { force: true });
  };
}
