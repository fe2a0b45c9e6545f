import { GatewayError } from "../../contract/index.ts";

/**
 * What the server says of itself rather than of a statement: lost connections, resources, operators, what the disk does, that
 * it only reads, that a password is wrong by now, and what loses against another transaction or the time limit.
 */
const PASSING = /^(?:08|25006|25P03|28|3D000|40|53|55P03|57|58)/;

/** Statements that took too long, or lost: the server is well and the connection can be used again. */
const HARMLESS = /^(?:40|55P03|57014)/;

/** character_not_in_repertoire: of all that JSON can say, only U+0000. */
const BAD_TEXT = "22021";

/** The server, the connection or the way there has failed: this connection is not to be used again. */
export function isAway(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === undefined ? !isOurs(error) : PASSING.test(state) && !HARMLESS.test(state);
}

/** A failure as callers may see it. What the driver said is kept for the log, without the password. */
export function postgresError(error: unknown, scrub: (text: string) => string): GatewayError {
  if (GatewayError.is(error)) return error;
  const state = sqlStateOf(error);
  if (state === BAD_TEXT) return new GatewayError("BAD_CALL", { message: "A text holds what cannot be kept: U+0000." });
  const isPassing = state === undefined ? !isOurs(error) : PASSING.test(state);
  return new GatewayError(isPassing ? "STATE_UNAVAILABLE" : "INTERNAL", {
    ...(isPassing && { details: { store: "postgres" } }),
    cause: new Error(reasonOf(error, scrub)),
  });
}

/** Why the gateway cannot start with this database, for whoever starts it: names it, without user and password. */
export function openError(url: string, error: unknown, scrub: (text: string) => string): GatewayError {
  const { code, details } = postgresError(error, scrub);
  if (GatewayError.is(error)) return error;
  const { protocol, host, pathname } = new URL(url);
  const message = `${protocol}//${host}${pathname} cannot be used: ${reasonOf(error, scrub)}`;
  return new GatewayError(code, { message, details, cause: error });
}

/** One line for the log. */
export function reasonOf(error: unknown, scrub: (text: string) => string): string {
  const text = error instanceof Error ? error.message || error.name : "unknown failure";
  const code = codeOf(error);
  return scrub(code === undefined || text.includes(code) ? text : `${code}: ${text}`);
}

/** Five characters that PostgreSQL gave; what has none came from the socket, the driver, or Node. */
function sqlStateOf(error: unknown): string | undefined {
  const code = codeOf(error);
  const isFromServer = error instanceof Error && "severity" in error;
  return isFromServer && code !== undefined && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** A mistake in the program, which would happen with any server. */
function isOurs(error: unknown): boolean {
  return (
    GatewayError.is(error) ||
    error instanceof TypeError ||
    error instanceof RangeError ||
    error instanceof ReferenceError ||
    error instanceof SyntaxError
  );
}

function codeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
