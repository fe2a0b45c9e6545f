/**
 * The environment of this process for programs that tests start, with a home that is thrown away: the gateway keeps the
 * operator's token there, and that of whoever runs the tests is theirs.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

let home: string | undefined;

/** The same for everything that this process starts; gone when it ends. */
export function ownHome(): string {
  if (home !== undefined) return home;
  const folder = mkdtempSync(join(tmpdir(), "isthmus-home-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  home = folder;
  return folder;
}

export function ownEnvironment(more: Readonly<Record<string, string | undefined>> = {}): NodeJS.ProcessEnv {
  return { ...process.env, HOME: ownHome(), ...more };
}
