import type { ResponseHead } from "./response-head.ts";

export type HttpSend = {
  method: "POST" | "GET" | "DELETE";
  /** Further header lines as made by `headerLine`, joined; "" for none. */
  head: string;
  /** latin1 text: one character per byte. */
  body?: string;
  /** With its query, instead of that of the client's URL. */
  path?: string | undefined;
};

/**
 * Hears about one exchange: `onHead`, `onData` any number of times, then exactly one of `onEnd` and `onError`.
 * What `onHead`, `onData` or `onEnd` throw ends this exchange alone and comes back through `onError` as `cause`.
 */
export interface HttpHandler {
  onHead(head: ResponseHead): void;
  onData(text: string): void;
  onEnd(): void;
  onError(failure: HttpFailure): void;
}

export type HttpFailure = {
  /** full: all sockets are busy and too many wait for one; that says nothing about the server. */
  reason: "connect" | "full" | "reset" | "malformed" | "head-too-large" | "aborted" | "timeout";
  /** Bytes of this request were written to a socket: the server may have acted on it. */
  sent: boolean;
  /** A reused socket died before any byte of the response: most likely the server had closed it while it was idle. */
  stale: boolean;
  cause?: unknown;
};

export interface HttpExchange {
  /** Stops reading from the server. What one read has already brought (64 KiB at most) is still delivered. */
  pause(): void;
  resume(): void;
  /** Destroys the socket and reports `aborted` before it returns. Does nothing after the end. */
  abort(): void;
}

/** The part of a connection, or of the queue, that an exchange steers. */
export interface ExchangeOwner {
  setPaused(exchange: Exchange, isPaused: boolean): void;
  abort(exchange: Exchange): void;
}

/** An exchange with its request text, wherever it stands: queued, connecting, or on a socket. */
export class Exchange implements HttpExchange {
  readonly handler: HttpHandler;
  /** The whole request; emptied once it is written, because a stream may outlive a large body by hours. */
  text: string;
  /** Undefined after the end. */
  owner: ExchangeOwner | undefined;
  isPaused = false;

  constructor(handler: HttpHandler, text: string, owner: ExchangeOwner) {
    this.handler = handler;
    this.text = text;
    this.owner = owner;
  }

  pause(): void {
    if (this.isPaused) return;
    this.isPaused = true;
    this.owner?.setPaused(this, true);
  }

  resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.owner?.setPaused(this, false);
  }

  abort(): void {
    this.owner?.abort(this);
  }

  /** Reports the failure once; later calls do nothing. */
  fail(failure: HttpFailure): void {
    if (this.owner === undefined) return;
    this.owner = undefined;
    this.handler.onError(failure);
  }
}
