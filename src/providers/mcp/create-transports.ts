import {
  ByteBudget,
  type Clock,
  GatheredBytes,
  type Log,
  type Principal,
  type Slices,
  type Timers,
} from "../../contract/index.ts";
import { type Authorization, authorizedClient } from "./authorized-client.ts";
import { ChildPlaces } from "./child-places.ts";
import {
  createHttpClient,
  createSocketOpener,
  type HttpClient,
  type SocketBound,
  type SocketOpener,
} from "./http/index.ts";
import { HttpTransport } from "./http-transport.ts";
import type { McpConfig } from "./mcp-config.ts";
import { SseTransport } from "./sse-transport.ts";
import type { Watchdog } from "./stdio/index.ts";
import { createStdioTransport, type HearProgram } from "./stdio-transport.ts";
import type { UpstreamFailure, UpstreamTransport } from "./transport.ts";

/** Makes the transports of one server's sessions, which share its sockets. */
export interface Transports {
  /**
   * `authorization`: as whom its requests are made; unset: with what the config says alone.
   * `caller`: whose session it is for; unset: for that of all.
   */
  create(authorization?: Authorization, caller?: Principal): UpstreamTransport;
  /** After a failed opening: true when the next transport will be of another kind. */
  isOtherWorthTrying(failure: UpstreamFailure): boolean;
  /** Gives the sockets back. Safe to call twice. */
  close(): void;
}

type Deps = {
  /** Of the messages that the process holds; unset: it has no end. */
  readonly budget?: ByteBudget | undefined;
  readonly clock: Clock;
  readonly slices: Slices;
  readonly timers: Timers;
  readonly log: Log;
  readonly parentEnv: Readonly<Record<string, string | undefined>>;
  readonly watchdog: Watchdog;
  readonly hearProgram?: HearProgram | undefined;
  readonly connect?: SocketOpener | undefined;
  /** Of the sockets to servers of the whole process; unset: there is none. */
  readonly sockets?: SocketBound | undefined;
};

const MAX_POSTS = 256;

/** How a server of the year 2024 answers a POST to the address of its stream. */
const OLD_SERVER_STATUS: readonly (number | undefined)[] = [400, 404, 405];

export function createTransports(config: McpConfig, deps: Deps): Transports {
  const { budget = new ByteBudget(Number.POSITIVE_INFINITY) } = deps;
  const gather = () => new GatheredBytes(budget, { name: `server ${config.id}` });
  if (config.transport !== "stdio") return createHttpTransports(config, deps, gather);
  const places = new ChildPlaces({ most: config.maxSessions, ...deps });
  const create = (_authorization?: Authorization, caller?: Principal) => {
    const takePlace = caller && (() => places.take(caller));
    return createStdioTransport({ config, ...deps, gathered: gather(), takePlace });
  };
  return { create, isOtherWorthTrying: () => false, close() {} };
}

function createHttpTransports(
  config: McpConfig,
  { clock, slices, timers, log, connect: opener, sockets }: Deps,
  gather: () => GatheredBytes,
): Transports {
  const url = new URL(config.url ?? "");
  const connect = sockets ? sockets.within(opener ?? createSocketOpener(url)) : opener;
  const createPool = (most: number) =>
    createHttpClient({ url, headers: config.headers, connect, maxSockets: Math.min(most, sockets?.ofPool ?? most) });
  // Each session keeps one stream open, and each call that was cut may hold another.
  const streams = createPool(2 * config.maxSessions + 64);
  // Of all sessions together, also where each has a path of its own: what a server does not answer is bounded for the server.
  const posts = createPool(MAX_POSTS);
  let kind = config.transport;
  return {
    create(authorization) {
      const as = (client: HttpClient) => (authorization ? authorizedClient(client, authorization) : client);
      const pace = { clock, slices };
      const clients = { posts: as(posts), streams: as(streams) };
      if (kind === "sse") return new SseTransport({ config, ...clients, pace, timers, gathered: gather() });
      return new HttpTransport({ ...clients, maxBytes: config.maxMessage, gather, ...pace, timers, log });
    },
    isOtherWorthTrying({ status }) {
      const former = kind;
      // A config that says "sse" means it; one that says "http", or nothing, may stand before an old server.
      kind = former === "http" && OLD_SERVER_STATUS.includes(status) ? "sse" : config.transport;
      return former === "http" && kind === "sse";
    },
    close() {
      posts.close();
      streams.close();
    },
  };
}
