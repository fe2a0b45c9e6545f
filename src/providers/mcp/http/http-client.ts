/**
 * A pool of raw HTTP/1.1 connections to one URL: the cheapest way to make a call upstream that Node offers.
 * Knows nothing of MCP. Addresses come from the config; what arrives at run time goes through mechanisms/egress.
 */

import type { ConnectionPool } from "./http-connection.ts";
import { HttpConnection } from "./http-connection.ts";
import type { ExchangeOwner, HttpExchange, HttpHandler, HttpSend } from "./http-exchange.ts";
import { Exchange } from "./http-exchange.ts";
import type { SocketOpener, TlsOptions } from "./open-socket.ts";
import { createSocketOpener } from "./open-socket.ts";
import { buildPrefixes, buildRequest } from "./request-prefix.ts";
import { LastHead } from "./response-head.ts";

export type HttpClientOptions = {
  /** http or https. One client serves exactly this path. */
  url: URL;
  /** Sent with every request; replaces a header of ours with the same name. */
  headers?: Readonly<Record<string, string>>;
  /** Default 256. */
  maxSockets?: number;
  /** How long an unused socket is kept, unless the server says less. Default 30 s. */
  idleMs?: number;
  /** Default 10 s. */
  connectTimeoutMs?: number;
  /** Default 32 KiB; also bounds trailers. */
  maxHeadBytes?: number;
  tls?: TlsOptions;
  /** Opens the sockets, instead of a plain connection to the host of the URL. */
  connect?: SocketOpener | undefined;
};

export interface HttpClient {
  /** Never throws and never calls the handler before it returns. */
  send(request: HttpSend, handler: HttpHandler): HttpExchange;
  /** Destroys all sockets; open and queued exchanges hear `aborted`. Safe to call twice. */
  close(): void;
  readonly stats: { open: number; idle: number; queued: number };
}

const MAX_QUEUED = 1024;

/** Opens nothing until the first send. Throws on a URL or header that cannot be used. */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { url, maxSockets = 256, idleMs = 30_000, connectTimeoutMs = 10_000, maxHeadBytes = 32 * 1024 } = options;
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new Error(`expected an http(s) URL, found ${url.protocol}`);
  const prefixes = buildPrefixes(url, options.headers ?? {});
  const connect = options.connect ?? createSocketOpener(url, options.tls);
  const lastHead = new LastHead();

  // Invariants:
  //  1. Every connection in `idle` is in `open` and carries no exchange; the one used last stands last.
  //  2. `queue` is empty whenever a connection is idle or `open` is below the bound.
  //  3. `sweeper` is set exactly while `idle` is not empty, or until its next tick.
  const open = new Set<HttpConnection>();
  const idle: HttpConnection[] = [];
  const queue: Exchange[] = [];
  let sweeper: NodeJS.Timeout | undefined;
  let isClosed = false;

  const waiting: ExchangeOwner = {
    setPaused() {}, // remembered by the exchange, applied when it gets a socket
    abort(exchange) {
      const at = queue.indexOf(exchange);
      if (at !== -1) queue.splice(at, 1);
      exchange.fail({ reason: "aborted", sent: false, stale: false });
    },
  };

  const pool: ConnectionPool = {
    onFree(connection) {
      const next = queue.shift();
      if (next !== undefined) return connection.carry(next);
      idle.push(connection);
      sweeper ??= setInterval(sweep, Math.max(250, idleMs / 4)).unref();
    },
    onGone(connection) {
      open.delete(connection);
      const at = idle.lastIndexOf(connection);
      if (at !== -1) idle.splice(at, 1);
      const next = isClosed ? undefined : queue.shift();
      if (next !== undefined) openFor(next);
    },
  };

  function openFor(exchange: Exchange): void {
    open.add(new HttpConnection({ connect, exchange, pool, idleMs, connectTimeoutMs, maxHeadBytes, lastHead }));
  }

  function takeIdle(): HttpConnection | undefined {
    const now = performance.now();
    for (let connection = idle.pop(); connection !== undefined; connection = idle.pop()) {
      if (connection.idleUntil > now) return connection;
      connection.destroy();
    }
    return undefined;
  }

  function sweep(): void {
    const now = performance.now();
    for (const connection of idle.filter((each) => each.idleUntil <= now)) connection.destroy();
    if (idle.length > 0) return;
    clearInterval(sweeper);
    sweeper = undefined;
  }

  /** Later, because the caller has no exchange in hand yet. */
  function refuse(exchange: Exchange, reason: "full" | "aborted", why: string): void {
    queueMicrotask(() => exchange.fail({ reason, sent: false, stale: false, cause: new Error(why) }));
  }

  return {
    send(request, handler) {
      const exchange = new Exchange(handler, buildRequest(prefixes, request), waiting);
      const connection = idle.length === 0 ? undefined : takeIdle();
      if (isClosed) refuse(exchange, "aborted", "the client is closed");
      else if (connection !== undefined) connection.carry(exchange);
      else if (open.size < maxSockets) openFor(exchange);
      else if (queue.length < MAX_QUEUED) queue.push(exchange);
      else refuse(exchange, "full", `${maxSockets} sockets are busy and ${MAX_QUEUED} requests wait for one`);
      return exchange;
    },

    close() {
      if (isClosed) return;
      isClosed = true;
      clearInterval(sweeper);
      for (const connection of [...open]) connection.destroy();
      for (const exchange of queue.splice(0)) waiting.abort(exchange);
    },

    get stats() {
      return { open: open.size, idle: idle.length, queued: queue.length };
    },
  };
}
