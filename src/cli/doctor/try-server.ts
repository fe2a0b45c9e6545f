/** Starts one server by itself, as the gateway would, and looks what becomes of it. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Log, LogFields } from "../../contract/index.ts";
import type { Config, Environment, ServerConfig } from "../../server/config/index.ts";
import { createGateway } from "../../server/gateway.ts";
import { plainLine } from "../output/plain.ts";
import type { TriedServer } from "./server-finding.ts";

const POLL_MS = 20;
/** A server that exits at once may have been reported before its last words arrived. */
const LAST_WORDS_MS = 1_000;
/** The line that says why, where a runtime writes more below it. */
const REASON = /^[\w.]*(?:Error|Exception)\b/;

export async function tryServer(
  config: Config,
  server: ServerConfig,
  options: { readonly env: Environment; readonly timeoutMs: number },
): Promise<TriedServer> {
  let lastLine: string | undefined;
  let reason: string | undefined;
  const log = listeningLog((line) => {
    lastLine = plainLine(line);
    if (REASON.test(lastLine)) reason = lastLine;
  });
  const started = performance.now();
  // Without its state: looking at a server must not pin what it offers.
  const { state: _state, ...settings } = config.gateway;
  const alone = { ...config, gateway: settings, servers: [{ ...server, restart: "never" as const }], catalogs: [] };
  const gateway = createGateway(alone, { log, env: options.env });
  const tookMs = () => performance.now() - started;
  const summaryOf = () =>
    gateway.servers().find(({ id }) => id === server.id) ?? { status: "starting" as const, tools: 0 };
  try {
    void gateway.settled();
    while (summaryOf().status === "starting" && tookMs() < options.timeoutMs) await sleep(POLL_MS);
    const summary = summaryOf();
    const end = hasDied(server, summary) ? tookMs() + LAST_WORDS_MS : 0;
    while (lastLine === undefined && tookMs() < end) await sleep(POLL_MS);
    return { server, summary, lastLine: reason ?? lastLine, tookMs: tookMs() };
  } finally {
    await gateway.close();
  }
}

/** A program that ran; one that could not be started has no last words. */
function hasDied({ transport }: ServerConfig, { status, message = "" }: TriedServer["summary"]): boolean {
  return transport === "stdio" && status !== "ok" && status !== "starting" && !message.startsWith("cannot start");
}

/** A log that writes nothing, and hears what servers write to standard error. */
function listeningLog(onLine: (line: string) => void): Log {
  const nothing = () => {};
  const log: Log = {
    debug(message: string, fields?: LogFields) {
      if (message === "server wrote to stderr" && typeof fields?.line === "string") onLine(fields.line);
    },
    info: nothing,
    warn: nothing,
    error: nothing,
    child: () => log,
  };
  return log;
}
