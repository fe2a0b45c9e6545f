import type { Exchange, Json } from "../sdk.ts";

const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/** What one client has told this server. */
export type Session = {
  /** Undefined until the client has chosen one: everything is sent. */
  logLevel: string | undefined;
  readonly subscriptions: Set<string>;
  /** As declared at initialize. */
  clientCapabilities(): Json;
};

/** One request of one client. */
export type Call = { readonly params: Json; readonly exchange: Exchange; readonly session: Session };

/** An error that reaches the client with this code. */
export function rpcError(code: number, message: string, data?: Json): Error {
  return Object.assign(new Error(message), { code, data });
}

export function setLogLevel({ params, session }: Call): Json {
  if (!LEVELS.includes(String(params.level))) throw rpcError(-32602, `Unknown log level: ${params.level}`);
  session.logLevel = String(params.level);
  return {};
}

export async function log({ exchange, session }: Call, level: string, data: string): Promise<void> {
  if (session.logLevel !== undefined && LEVELS.indexOf(level) < LEVELS.indexOf(session.logLevel)) return;
  await exchange.sendNotification({ method: "notifications/message", params: { level, logger: "fixture-2025", data } });
}
