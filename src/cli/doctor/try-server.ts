/** Starts one server by itself, as the gateway would, and looks what becomes of it. */
import { setTimeout as sleep } from "node:timers/promises";
import { joinName, type Log, underscoreName } from "../../contract/index.ts";
import type { Config, Environment, ServerConfig } from "../../server/config/index.ts";
import { Secret } from "../../server/config/secret.ts";
import { revealAll } from "../../server/extensions.ts";
import { createGateway } from "../../server/gateway.ts";
import { wayOutOf } from "./network-advice.ts";
import type { TriedServer } from "./server-finding.ts";
import { tellsWhereToSignIn } from "./sign-in-metadata.ts";

const POLL_MS = 20;
/** A server that exits at once may have been reported before its last words arrived. */
const LAST_WORDS_MS = 1_000;

export async function tryServer(
  config: Config,
  server: ServerConfig,
  options: { readonly env: Environment; readonly timeoutMs: number },
): Promise<TriedServer> {
  const started = performance.now();
  // Without its state: looking at a server must not pin what it offers.
  const { state: _state, ...settings } = config.gateway;
  const alike = { ...server, restart: "never" as const, env: { ...quickToSay(server), ...server.env } };
  const others = config.servers.filter(({ id }) => id !== server.id).map(({ id }) => id);
  const alone = { ...config, gateway: settings, servers: [alike], disabled: [...config.disabled, ...others] };
  const gateway = createGateway(alone, { log: silent, env: options.env });
  const tookMs = () => performance.now() - started;
  const summaryOf = (): TriedServer["summary"] =>
    gateway.servers().find(({ id }) => id === server.id) ?? { status: "starting", tools: 0 };
  try {
    void gateway.settled();
    while (summaryOf().status === "starting" && tookMs() < options.timeoutMs) await sleep(POLL_MS);
    const end = hasDied(server, summaryOf()) ? tookMs() + LAST_WORDS_MS : 0;
    while (summaryOf().lastWords === undefined && tookMs() < end) await sleep(POLL_MS);
    const wayOut = wayOutOf(revealAll(server.env), options.env);
    const summary = summaryOf();
    const signInTool = publicName(config, server, "sign_in");
    const tried = { server, summary, wayOut, tookMs: tookMs(), misnamed: gateway.misnamed(), signInTool };
    const hasCredentials = Object.keys(server.headers ?? {}).some((name) => name.toLowerCase() === "authorization");
    return { ...tried, hasCredentials, hasSignIn: await mayBeSignedInTo(server, summary) };
  } finally {
    await gateway.close();
  }
}

async function mayBeSignedInTo({ auth, url }: ServerConfig, { status }: TriedServer["summary"]): Promise<boolean> {
  if (status !== "auth_required" || auth !== undefined || url === undefined) return false;
  return await tellsWhereToSignIn(new URL(url));
}

function publicName({ gateway: { naming } }: Config, { segment }: ServerConfig, own: string): string {
  const dotted = joinName(segment, own);
  return segment === "" || naming === "dotted" ? dotted : underscoreName(segment, dotted);
}

/**
 * What package managers need to say in time why they cannot fetch something: npm tries for more than a minute, so it tells of each
 * attempt; uv tells of none and tries for as long as a server may take to start, so it tries only once more.
 */
function quickToSay({ command = "" }: ServerConfig): Readonly<Record<string, Secret>> {
  if (/(?:^|[/\\])np[mx](?:\.cmd)?$/.test(command)) return { npm_config_loglevel: new Secret("http", []) };
  return /(?:^|[/\\])uvx?(?:\.exe)?$/.test(command) ? { UV_HTTP_RETRIES: new Secret("1", []) } : {};
}

/** A program that ran; one that could not be started has no last words. */
function hasDied({ transport }: ServerConfig, { status, message = "" }: TriedServer["summary"]): boolean {
  return transport === "stdio" && status !== "ok" && status !== "starting" && !message.startsWith("cannot start");
}

const nothing = () => {};
const silent: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => silent };
