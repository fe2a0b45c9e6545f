/**
 * Breaks a source file in place for as long as a task runs. The original is put back on return, throw, Ctrl-C and
 * termination; after a kill -9 the next run puts it back from the note left behind.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

const NOTE = "node_modules/.cache/isthmus/mutated.json";

export async function withBrokenFile<T>(path: string, broken: string, task: () => Promise<T>): Promise<T> {
  mkdirSync(dirname(NOTE), { recursive: true });
  writeFileSync(NOTE, JSON.stringify({ path, source: readFileSync(path, "utf8") }));
  process.on("SIGINT", restoreAndExit).on("SIGTERM", restoreAndExit);
  try {
    writeFileSync(path, broken);
    return await task();
  } finally {
    restoreBrokenFile();
    process.off("SIGINT", restoreAndExit).off("SIGTERM", restoreAndExit);
  }
}

/** Puts back what an earlier or the present run broke. Safe to call at any time. */
export function restoreBrokenFile(): void {
  if (!existsSync(NOTE)) return;
  const { path, source } = JSON.parse(readFileSync(NOTE, "utf8")) as { path: string; source: string };
  writeFileSync(path, source);
  rmSync(NOTE);
}

function restoreAndExit(): void {
  restoreBrokenFile();
  process.exit(130);
}
