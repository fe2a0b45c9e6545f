/** Finds the gateway that a verb speaks to: the one that runs, else one in this process for as long as the verb takes. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Config, ConfigFlags } from "../../server/config/index.ts";
import { createGateway } from "../../server/gateway.ts";
import type { Gateway } from "../../server/gateway-types.ts";
import { createLog } from "../../server/log.ts";
import { Ending } from "../ending.ts";
import { objectOf } from "../json.ts";
import { say } from "../output/console.ts";
import { readOwnConfig } from "../own-config.ts";
import { NoAnswer } from "./channel.ts";
import { configuredUrl, parseGatewayUrl } from "./gateway-url.ts";
import { HttpChannel } from "./http-channel.ts";
import { type ClientOptions, McpClient } from "./mcp-client.ts";
import { MemoryChannel } from "./memory-channel.ts";

export type ConnectFlags = { readonly url?: string; readonly config?: string };

export type Connection = {
  readonly client: McpClient;
  /** What the config says, when the gateway was found by it. */
  readonly config: Config | undefined;
  close(): Promise<void>;
};

type Talk = Omit<ClientOptions, "connect">;

const OPEN_MS = 10_000;
/** Servers that are started through a package runner first download themselves. */
const START_MS = 30_000;
const POLL_MS = 50;

/** Throws Ending when there is nobody to talk to. */
export async function connect(flags: ConnectFlags, talk: Talk = {}): Promise<Connection> {
  if (flags.url !== undefined) return connectTo(parseGatewayUrl(flags.url), talk);
  const configFlags: ConfigFlags = { ...(flags.config !== undefined && { config: flags.config }), logLevel: "error" };
  const { config, env, files } = readOwnConfig(configFlags);
  const url = configuredUrl(config);
  const running = url && (await openRunning(url, talk, OPEN_MS));
  if (running) return { ...running, config };
  say(describeOwn(url, files.length === 0));
  const log = createLog({ level: "error", format: "pretty", write: (text) => process.stderr.write(text) });
  return openOwn(createGateway(config, { log, env }), config, talk);
}

async function connectTo(url: URL, talk: Talk): Promise<Connection> {
  const running = await openRunning(url, talk, OPEN_MS);
  if (running) return { ...running, config: undefined };
  throw new Ending("unreachable", [`--url: nothing listens at ${url.href}; start the gateway there with "isthmus up"`]);
}

/** Undefined when nothing listens there. Throws Ending when something else does. */
export async function openRunning(
  url: URL,
  talk: Talk,
  timeoutMs: number,
): Promise<Pick<Connection, "client" | "close"> | undefined> {
  const life = new AbortController();
  const client = new McpClient({ ...talk, connect: (hear) => new HttpChannel({ url, hear, signal: life.signal }) });
  const timer = setTimeout(() => life.abort(), timeoutMs);
  try {
    await client.open();
    return { client, close: () => client.close().finally(() => life.abort()) };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (error instanceof NoAnswer && error.isNobody) return undefined;
    throw new Ending("unreachable", [
      `${url.href} answers, but not as an MCP server (${error.message}); is it another program? Say where with --url`,
    ]);
  } finally {
    clearTimeout(timer);
  }
}

function describeOwn(url: URL | undefined, isDemo: boolean): string {
  const nobody = url ? `nothing listens on ${url.host}` : "the config names no port";
  const what = isDemo ? "the built-in demo runs" : "the config's servers run";
  return `${nobody}, so ${what} in this process for now; start "isthmus up" to keep it going`;
}

async function openOwn(gateway: Gateway, config: Config, talk: Talk): Promise<Connection> {
  const client = new McpClient({ ...talk, connect: (hear) => new MemoryChannel(gateway, hear) });
  await client.open();
  await started(gateway);
  return { client, config, close: () => client.close() };
}

/** Resolves when no server is starting any more, at the latest after 30 s: nobody waits for a list twice. */
async function started(gateway: Gateway): Promise<void> {
  await gateway.settled();
  const deadline = Date.now() + START_MS;
  while (Date.now() < deadline && gateway.servers().some(({ status }) => status === "starting")) await sleep(POLL_MS);
}

/** Runs `work` on a connection and closes it, however it ends. */
export async function withConnection<Result>(
  flags: ConnectFlags,
  work: (connection: Connection) => Promise<Result>,
  talk?: Talk,
): Promise<Result> {
  const connection = await connect(flags, talk);
  try {
    return await work(connection);
  } finally {
    await connection.close();
  }
}

/** What a list says about servers that are not ok: id, status, and why. */
export function troublesIn(meta: Readonly<Record<string, unknown>>): [id: string, status: string, message: string][] {
  const servers = Object.entries(objectOf(meta["dev.isthmus/servers"]));
  return servers.map(([id, state]) => {
    const { status, message } = objectOf(state);
    return [id, String(status), typeof message === "string" ? message : ""];
  });
}
