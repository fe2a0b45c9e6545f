import { existsSync } from "node:fs";

/** Says in the operator's words why a command did not start. It has a cause only where those words do not say everything. */
export function describeSpawnError(options: { command: string; cwd?: string }, cause: unknown): Error {
  const name = JSON.stringify(options.command);
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  // The system reports a missing working directory as if the command were missing.
  const isCwdMissing = code === "ENOENT" && options.cwd !== undefined && !existsSync(options.cwd);
  if (isCwdMissing) return new Error(`cannot start ${name}: the directory ${options.cwd} does not exist (ENOENT)`);
  if (code === "ENOENT") return new Error(`cannot start ${name}: command not found (ENOENT)`);
  if (code === "EACCES") return new Error(`cannot start ${name}: not executable (EACCES)`);
  if (code === "EMFILE" || code === "ENFILE")
    return new Error(`cannot start ${name}: too many files are open (${code}); raise the limit ("ulimit -n")`);
  return new Error(`cannot start ${name}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
}
