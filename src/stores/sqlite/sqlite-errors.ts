import { GatewayError } from "../../contract/index.ts";

/** What the disk or the file does to us, as opposed to what a statement does wrong. */
const STORAGE =
  /^SQLITE_(?:FULL|IOERR|CORRUPT|NOTADB|READONLY|CANTOPEN|NOMEM|BUSY|LOCKED|PROTOCOL|PERM|AUTH|NOLFS|INTERRUPT)/;

export function codeOf(error: unknown): string {
  return typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
}

export function isStorageError(error: unknown): boolean {
  return STORAGE.test(codeOf(error));
}

export function stateUnavailable(cause: unknown): GatewayError {
  return GatewayError.is(cause)
    ? cause
    : new GatewayError("STATE_UNAVAILABLE", { details: { store: "sqlite" }, cause });
}

/** Whether a file could not be opened because another process has it, by what `openError` made of it. */
export function isTaken(error: unknown): boolean {
  return error instanceof Error && codeOf(error.cause).startsWith("SQLITE_BUSY");
}

/** Why the file cannot be opened, and what to do. */
export function openError(file: string, error: unknown): Error {
  const code = codeOf(error);
  const because = (text: string) => new Error(`${file} ${text}`, { cause: error });
  if (code.startsWith("SQLITE_BUSY"))
    return because("is in use by another gateway: stop that one, or give this one a state folder of its own");
  if (code.startsWith("SQLITE_NOTADB") || code.startsWith("SQLITE_CORRUPT"))
    return because("is not a database, or is damaged: restore it from a backup, or move it away to start anew");
  if (code.startsWith("SQLITE_CANTOPEN") || code.startsWith("SQLITE_READONLY") || /^E[A-Z]+$/.test(code))
    return because("cannot be opened for writing: make its folder exist and belong to the user the gateway runs as");
  if (code.startsWith("SQLITE_FULL") || code.startsWith("SQLITE_IOERR"))
    return because("cannot be written: look whether its disk is full or failing");
  return error instanceof Error ? error : because("cannot be opened");
}
