import pg, { type ClientConfig } from "pg";
import { GatewayError } from "../../contract/index.ts";

/** All in ms. The server ends a statement by itself before we give up on the server. */
export type PostgresTimes = {
  /** To get a connection, new or free. */
  readonly connectMs: number;
  readonly statementMs: number;
  /** Until the answer is there. */
  readonly answerMs: number;
};

export const POSTGRES_TIMES: PostgresTimes = { connectMs: 3_000, statementMs: 4_000, answerMs: 5_000 };

/** What `pg` returns as text by default, because it may be too large for a number; none of ours is. */
const INT8 = 20;

export function clientConfig(url: string, times: PostgresTimes): ClientConfig {
  return {
    connectionString: url,
    application_name: "isthmus",
    keepAlive: true,
    connectionTimeoutMillis: times.connectMs,
    statement_timeout: times.statementMs,
    query_timeout: times.answerMs,
    // A process that stands still in the middle of a transaction must not hold up the others.
    idle_in_transaction_session_timeout: times.answerMs,
    types: {
      // biome-ignore lint/suspicious/noExplicitAny: the type of pg says so
      getTypeParser: (oid: number, format?: any) => (oid === INT8 ? Number : pg.types.getTypeParser(oid, format)),
    } as NonNullable<ClientConfig["types"]>,
  };
}

/** Takes the password out of whatever is about to be said. */
export function scrubber(url: string): (text: string) => string {
  const { password } = parse(url);
  const secrets = [url, password, decoded(password)].filter((secret) => secret !== "");
  return (text) => secrets.reduce((clean, secret) => clean.replaceAll(secret, "***"), text);
}

/** The error of `new URL` would carry the whole of it. */
function parse(url: string): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed && /^postgres(?:ql)?:$/.test(parsed.protocol)) return parsed;
  throw new GatewayError("STATE_UNAVAILABLE", {
    message: "The URL of the database is not one: expected postgres://user:password@host:port/name.",
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
