/** Connections to one other process, kept for the next request. */

import type { Clock } from "../../contract/index.ts";
import { type ConnectionPool, HttpConnection } from "../../providers/mcp/http/http-connection.ts";
import { Exchange, type ExchangeOwner, type HttpHandler } from "../../providers/mcp/http/http-exchange.ts";
import { LastHead } from "../../providers/mcp/http/response-head.ts";
import type { OpenHopSocket } from "./hop-tls.ts";

export type HopPoolOptions = {
  readonly connect: OpenHopSocket;
  readonly clock: Clock;
  readonly connectTimeoutMs: number;
  readonly maxConnections: number;
  /** Nothing is open or under way any more. */
  readonly onEmpty: () => void;
};

/** Well below what the listener allows: it should never be the one that closes. */
const IDLE_MS = 30_000;
const MAX_HEAD_BYTES = 32 * 1024;
/** A connection that was silent for longer may have been closed without our having looked. */
const FRESH_MS = 1_000;

// Invariants:
//  1. Every connection in `#idle` is in `#open` and carries nothing; the one used last stands last.
//  2. `#under` holds what was sent and has not ended, and what waits for its first look.
export class HopPool implements ConnectionPool {
  readonly #options: HopPoolOptions;
  readonly #open = new Set<HttpConnection>();
  readonly #lastHead = new LastHead();
  readonly #idle: { connection: HttpConnection; since: number }[] = [];
  readonly #under = new Set<Exchange>();
  #isClosed = false;

  constructor(options: HopPoolOptions) {
    this.#options = options;
  }

  get isFull(): boolean {
    return this.#idle.length === 0 && this.#open.size >= this.#options.maxConnections;
  }

  get isBusy(): boolean {
    return this.#under.size > 0;
  }

  get connections(): number {
    return this.#open.size;
  }

  send(text: string, handler: HttpHandler): Exchange {
    const exchange = new Exchange(
      this.#watched(handler, () => this.#under.delete(exchange)),
      text,
      WAITING,
    );
    this.#under.add(exchange);
    this.#carry(exchange);
    return exchange;
  }

  #carry(exchange: Exchange): void {
    const { clock, connect, connectTimeoutMs } = this.#options;
    const found = this.#takeIdle();
    if (found === undefined) {
      const timing = { idleMs: IDLE_MS, connectTimeoutMs, maxHeadBytes: MAX_HEAD_BYTES };
      this.#open.add(new HttpConnection({ connect, exchange, pool: this, lastHead: this.#lastHead, ...timing }));
    } else if (clock.now() - found.since <= FRESH_MS) found.connection.carry(exchange);
    else this.#lookFirst(exchange, found.connection);
  }

  /**
   * A close that has reached this machine is seen within two turns of the event loop: then nothing was sent, and another
   * connection carries the request.
   */
  #lookFirst(exchange: Exchange, connection: HttpConnection): void {
    setImmediate(() =>
      setImmediate(() => {
        const isWanted = exchange.owner !== undefined;
        if (isWanted && this.#open.has(connection)) connection.carry(exchange);
        else if (isWanted) this.#carry(exchange);
        else if (this.#open.has(connection)) this.onFree(connection);
      }),
    );
  }

  #takeIdle(): { connection: HttpConnection; since: number } | undefined {
    for (let found = this.#idle.pop(); found !== undefined; found = this.#idle.pop()) {
      if (found.connection.idleUntil > performance.now()) return found;
      found.connection.destroy();
    }
    return undefined;
  }

  onFree(connection: HttpConnection): void {
    if (this.#isClosed) connection.destroy();
    else this.#idle.push({ connection, since: this.#options.clock.now() });
  }

  onGone(connection: HttpConnection): void {
    this.#open.delete(connection);
    const at = this.#idle.findIndex((each) => each.connection === connection);
    if (at !== -1) this.#idle.splice(at, 1);
    this.#tellEmpty();
  }

  /** Lets go of connections that nobody wants any more. */
  sweep(): void {
    const now = performance.now();
    for (const { connection } of this.#idle.filter((each) => each.connection.idleUntil <= now)) connection.destroy();
  }

  /** The process is gone: whatever waits for it hears so. */
  giveUp(): void {
    for (const exchange of [...this.#under]) exchange.abort();
  }

  close(): void {
    this.#isClosed = true;
    this.giveUp();
    for (const connection of [...this.#open]) connection.destroy();
    this.#tellEmpty();
  }

  #watched(handler: HttpHandler, onOver: () => void): HttpHandler {
    return {
      onHead: (head) => handler.onHead(head),
      onData: (text) => handler.onData(text),
      onEnd: () => {
        onOver();
        handler.onEnd();
      },
      onError: (failure) => {
        onOver();
        handler.onError(failure);
        this.#tellEmpty();
      },
    };
  }

  #tellEmpty(): void {
    if (this.#open.size === 0 && this.#under.size === 0) this.#options.onEmpty();
  }
}

/** Who answers for an exchange that has no connection yet. */
const WAITING: ExchangeOwner = {
  setPaused() {},
  abort(exchange) {
    exchange.fail({ reason: "aborted", sent: false, stale: false });
  },
};
