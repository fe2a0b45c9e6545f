/** Finds the gateway that a verb speaks to: the one that runs, else one in this process for as long as the verb takes. */

import { setTimeout as sleep } from "node:timers/promises";
import { type GatewayPlace, isAuthOn } from "../../server/config/index.ts";
import { createGateway } from "../../server/gateway.ts";
import type { Gateway, ServerSummary } from "../../server/gateway-types.ts";
import { declaredPolicy } from "../../server/governance/access.ts";
import { grantsNothing } from "../../server/governance/nothing-granted.ts";
import { createLog } from "../../server/log.ts";
import { Ending } from "../ending.ts";
import { listOf, objectOf, objectsIn, textOf } from "../json.ts";
import { movedGateway, movedLine } from "../operator/moved-gateway.ts";
import { aboutGateway, otherConfigLine } from "../operator/other-config.ts";
import { say, sayText } from "../output/console.ts";
import { readGatewayPlace, readOwnConfig, sayProblems } from "../own-config.ts";
import { PROGRAM } from "../program-name.ts";
import { NoAnswer } from "./channel.ts";
import { type ConnectFlags, configuredUrl, parseGatewayUrl } from "./gateway-url.ts";
import { HttpChannel } from "./http-channel.ts";
import { httpGet, jsonOf } from "./http-get.ts";
import { type ClientOptions, McpClient } from "./mcp-client.ts";
import { MemoryChannel } from "./memory-channel.ts";
import { nobodyThere } from "./nobody-there.ts";

export type Connection = {
  readonly client: McpClient;
  /** What the config says about it, when the gateway was found by one that somebody wrote. */
  readonly place: GatewayPlace | undefined;
  /** How its servers are, as far as we may know: only operators may. */
  servers(): Promise<readonly ServerState[]>;
  about(): Promise<GatewayFacts>;
  /** That it runs with another config than that by which it was found, in one line, where it says so. */
  otherConfig?(): Promise<string | undefined>;
  close(): Promise<void>;
};

export type GatewayFacts = {
  /** Whom grants name; unset: it does not say. */
  readonly user?: string | undefined;
  /** What we may do to the gateway itself; unset: nothing, or it does not say. */
  readonly role?: string | undefined;
  /** Callers are asked who they are. */
  readonly knowsCallers?: boolean;
  /** Callers are known, and none of them may use anything. */
  readonly grantsNothing: boolean;
};

export type ServerState = Pick<ServerSummary, "id" | "lastWords"> & {
  readonly status?: string | undefined;
  readonly message?: string | undefined;
};

type Talk = Omit<ClientOptions, "connect">;

const OPEN_MS = 10_000;
/** Servers that are started through a package runner first download themselves. */
const START_MS = 30_000;
const POLL_MS = 50;

/** Throws Ending when there is nobody to talk to. */
export async function connect(flags: ConnectFlags, talk: Talk = {}): Promise<Connection> {
  if (flags.url !== undefined) return connectTo(parseGatewayUrl(flags.url), talk);
  const place = readGatewayPlace(flags);
  const url = configuredUrl(place);
  const running = url && (await openAt(url, talk, OPEN_MS).catch(absenceOf));
  if (url && running && !(running instanceof NoAnswer)) {
    sayProblems(place, url);
    // Without a config here the place is that of the demo, and the gateway may have any config.
    if (!place.files) return { ...running, place: undefined };
    return { ...running, place, otherConfig: async () => otherConfigLine(url, await aboutGateway(url), place) };
  }
  const { config, env, files } = readOwnConfig({
    ...(flags.config !== undefined && { config: flags.config }),
    logLevel: "error",
  });
  const isAsked = isAuthOn(config.auth);
  if (isAsked && grantsNothing(config, declaredPolicy(config), { now: Date.now(), misnamed: [] })) {
    const { lines } =
      url && running instanceof NoAnswer ? await nobodyThere(url, running, flags) : { lines: [NO_PORT] };
    throw new Ending("unreachable", [...lines, ONLY_GRANTED]);
  }
  for (const line of movedLine(await movedGateway(flags.config))) say(line);
  say(describeOwn(url, files.length === 0 ? "demo" : isAsked ? "granting" : "open"));
  const log = createLog({ level: "error", format: "pretty", write: sayText });
  // A verb brings no signatures: what would wait for one is refused at once.
  const own = { ...config, gate: { ...config.gate, anchors: [] } };
  return openOwn(createGateway(own, { log, env, calledAs: { program: PROGRAM, isFound: true } }), talk);
}

/** What verbs have granted is not looked up: without the gateway nobody is known, so nobody could be let in by it. */
const ONLY_GRANTED =
  "callers are asked who they are, and the config grants nothing to any of them; what verbs have granted counts in the gateway that runs";
const NO_PORT = `the config names no port: start the gateway with "${PROGRAM} up", and name it with --url`;

function absenceOf(error: unknown): NoAnswer {
  if (error instanceof NoAnswer) return error;
  throw error;
}

async function connectTo(url: URL, talk: Talk): Promise<Connection> {
  try {
    return { ...(await openAt(url, talk, OPEN_MS)), place: undefined };
  } catch (error) {
    throw error instanceof NoAnswer ? await nobodyThere(url, error, { url: url.href }) : error;
  }
}

/** Undefined when nothing listens there. Throws Ending when something else does, or when it does not let us. */
export async function openRunning(
  url: URL,
  talk: Talk,
  timeoutMs: number,
): Promise<Omit<Connection, "place"> | undefined> {
  try {
    return await openAt(url, talk, timeoutMs);
  } catch (error) {
    if (error instanceof NoAnswer) return undefined;
    throw error;
  }
}

/** Rejects with NoAnswer when nothing listens there, else as openRunning does. */
async function openAt(url: URL, talk: Talk, timeoutMs: number): Promise<Omit<Connection, "place">> {
  const life = new AbortController();
  const client = new McpClient({ ...talk, connect: (hear) => new HttpChannel({ url, hear, signal: life.signal }) });
  const timer = setTimeout(() => life.abort(), timeoutMs);
  try {
    await client.open();
    const close = () => client.close().finally(() => life.abort());
    let facts: Promise<GatewayFacts> | undefined;
    const about = () => (facts ??= askAbout(url));
    return { client, servers: async () => ((await about()).role === undefined ? [] : askServers(url)), about, close };
  } catch (error) {
    if (!(error instanceof Error) || error instanceof Ending) throw error;
    if (error instanceof NoAnswer && error.isNobody) throw error;
    const words = error instanceof NoAnswer ? error.words : undefined;
    // One that answers and has nothing at that path is not missing itself.
    const exit = error instanceof NoAnswer && error.isMissing ? "failure" : "unreachable";
    if (words !== undefined) throw new Ending(exit, [`the gateway at ${url.href} answers: ${words}`]);
    throw new Ending("unreachable", [
      `${url.href} answers, but not as an MCP server (${error.message}); is it another program? Say where with --url`,
    ]);
  } finally {
    clearTimeout(timer);
  }
}

/** Only for those with a role: a question by anybody else would stand in the gateway's trail as an attempt to look where they may not. */
async function askServers(url: URL): Promise<readonly ServerState[]> {
  const answer = await httpGet(new URL("/api/servers", url), OPEN_MS).catch(() => undefined);
  if (answer?.status !== 200) return [];
  return objectsIn(objectOf(jsonOf(answer)).servers).map(({ id, status, message, lastWords }) => ({
    id: textOf(id) ?? "",
    status: textOf(status),
    message: textOf(message),
    lastWords: listOf(lastWords).flatMap((line) => textOf(line) ?? []),
  }));
}

/** Servers that work and of whose lists a part is left out, with what is to be done about it. */
export function cutLists(servers: readonly ServerState[]): [id: string, message: string][] {
  return servers.flatMap(({ id, status, message }) => (status === "ok" && message ? [[id, message]] : []));
}

async function askAbout(url: URL): Promise<GatewayFacts> {
  const answer = await httpGet(new URL("/api/about", url), OPEN_MS).catch(() => undefined);
  const { user, role, grantsNothing, knowsCallers } = objectOf(answer && jsonOf(answer));
  return {
    user: textOf(user),
    role: textOf(role),
    knowsCallers: knowsCallers === true,
    grantsNothing: grantsNothing === true,
  };
}

function describeOwn(url: URL | undefined, config: "demo" | "granting" | "open"): string {
  const nobody = url ? `no gateway runs at ${url.origin}` : "the config names no port";
  const what = config === "demo" ? "the built-in demo runs" : "the config's servers run";
  const part = config === "granting" ? ", with what the config grants and nothing else" : "";
  return `${nobody}, so ${what} in this process for now${part}; start "${PROGRAM} up" to keep it going`;
}

async function openOwn(gateway: Gateway, talk: Talk): Promise<Connection> {
  const client = new McpClient({ ...talk, connect: (hear) => new MemoryChannel(gateway, hear) });
  await client.open();
  await started(gateway);
  return {
    client,
    place: gateway.config,
    servers: async () => gateway.servers(),
    about: async () => ({ grantsNothing: gateway.grantsNothing() }),
    close: () => client.close(),
  };
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
