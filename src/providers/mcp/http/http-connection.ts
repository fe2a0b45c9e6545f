/**
 * One socket to the server and the exchange it carries. Reuse is the pool's business (http-client.ts).
 */

import type { Socket } from "node:net";
import type { Exchange, ExchangeOwner, HttpFailure } from "./http-exchange.ts";
import type { TextReader } from "./open-socket.ts";
import type { LastHead, ResponseHead } from "./response-head.ts";
import type { ResponseSink } from "./response-parser.ts";
import { ResponseParser } from "./response-parser.ts";

export interface ConnectionPool {
  /** The connection has no exchange any more and may carry another one. Called before the handler hears of the end. */
  onFree(connection: HttpConnection): void;
  /** The connection cannot be used any more. Called once, before the handler hears of it. */
  onGone(connection: HttpConnection): void;
}

// Invariants:
//  1. `#exchange` is set exactly while the parser is started or the socket is connecting.
//  2. After `#gone` nothing is written, and no exchange is set.
export class HttpConnection implements ResponseSink, ExchangeOwner, TextReader {
  /** When an idle connection stops being trustworthy, in whole ms of `performance.now()`: V8 keeps others apart. */
  idleUntil = 0;
  readonly #socket: Socket;
  readonly #pool: ConnectionPool;
  readonly #idleMs: number;
  readonly #parser: ResponseParser;
  // Not the socket's own timeout: each of its reads and writes would look at that for ever, even when it is off.
  readonly #connecting: NodeJS.Timeout;
  #exchange: Exchange | undefined;
  #isOpen = false;
  #gone = false;
  #served = 0;
  #heard = false; // a byte of the current response has come
  #error: unknown;

  constructor(options: {
    connect: (reader: TextReader) => { socket: Socket; openEvent: "connect" | "secureConnect" };
    exchange: Exchange;
    pool: ConnectionPool;
    idleMs: number;
    connectTimeoutMs: number;
    maxHeadBytes: number;
    lastHead: LastHead;
  }) {
    this.#pool = options.pool;
    this.#idleMs = options.idleMs;
    this.#parser = new ResponseParser(this, options.maxHeadBytes, options.lastHead);
    this.#exchange = options.exchange;
    options.exchange.owner = this;
    const { socket, openEvent } = options.connect(this);
    this.#socket = socket;
    const { connectTimeoutMs } = options;
    const giveUp = () => this.#lose("timeout", new Error(`no connection within ${connectTimeoutMs} ms`));
    this.#connecting = setTimeout(giveUp, connectTimeoutMs).unref();
    socket.once(openEvent, () => this.#open());
    socket.on("error", (error) => {
      this.#error = error;
    });
    socket.on("end", () => this.#finish());
    socket.on("close", () => this.#finish());
  }

  /** Writes the next request. Only for a free connection. */
  carry(exchange: Exchange): void {
    this.#exchange = exchange;
    exchange.owner = this;
    this.#write(exchange);
  }

  /** Ends the connection; the exchange on it hears `aborted`. Safe to call twice. */
  destroy(): void {
    this.#lose("aborted");
  }

  abort(exchange: Exchange): void {
    if (exchange === this.#exchange) this.#lose("aborted");
  }

  setPaused(exchange: Exchange, isPaused: boolean): void {
    if (exchange !== this.#exchange || !this.#isOpen) return;
    if (isPaused) this.#socket.pause();
    else this.#socket.resume();
  }

  onHead(head: ResponseHead): void {
    try {
      this.#exchange?.handler.onHead(head);
    } catch (cause) {
      this.#lose("malformed", cause);
    }
  }

  onData(text: string): void {
    try {
      this.#exchange?.handler.onData(text);
    } catch (cause) {
      this.#lose("malformed", cause);
    }
  }

  onResponseEnd(reusable: boolean, keepAliveMs: number | undefined): void {
    const exchange = this.#exchange;
    if (exchange === undefined) return;
    this.#exchange = undefined;
    this.#served++;
    if (exchange.isPaused) this.#socket.resume();
    // A server that answers before it has read the whole request will read the rest of it as the next one.
    if (reusable && this.#socket.writableLength === 0) {
      // One second early, so that our next request does not cross the server's close on the wire.
      const idleMs = Math.min(this.#idleMs, keepAliveMs === undefined ? this.#idleMs : keepAliveMs - 1000);
      this.idleUntil = Math.floor(performance.now() + idleMs);
      this.#pool.onFree(this);
    } else {
      this.#retire();
    }
    this.#reportEnd(exchange);
  }

  onInvalid(reason: "malformed" | "head-too-large", cause: Error): void {
    this.#lose(reason, cause);
  }

  #reportEnd(exchange: Exchange): void {
    try {
      exchange.owner = undefined;
      exchange.handler.onEnd();
    } catch (cause) {
      exchange.handler.onError({ reason: "malformed", sent: true, stale: false, cause });
    }
  }

  #open(): void {
    if (this.#gone) return;
    this.#isOpen = true;
    clearTimeout(this.#connecting);
    if (this.#exchange !== undefined) this.#write(this.#exchange);
  }

  #write(exchange: Exchange): void {
    this.#heard = false;
    this.#parser.start();
    this.#socket.write(exchange.text, "latin1");
    exchange.text = "";
    if (exchange.isPaused) this.#socket.pause();
  }

  read(text: string): void {
    if (this.#gone) return;
    this.#heard = true;
    // Bytes that nobody asked for would be taken as the answer to the next request.
    if (this.#parser.isStopped) this.#lose("malformed", new Error("the server sent bytes that belong to no request"));
    else this.#parser.push(text);
  }

  /** The server closed, or the socket broke. */
  #finish(): void {
    if (this.#gone || (this.#error === undefined && this.#parser.finish())) return;
    if (!this.#isOpen)
      this.#lose("connect", this.#error ?? new Error("the server closed the connection while it was opened"));
    else
      this.#lose("reset", this.#error ?? new Error("the server closed the connection before the end of its response"));
  }

  #lose(reason: HttpFailure["reason"], cause?: unknown): void {
    if (this.#gone) return;
    const exchange = this.#exchange;
    this.#exchange = undefined;
    this.#retire();
    if (exchange === undefined) return;
    const stale = reason === "reset" && this.#served > 0 && !this.#heard;
    exchange.fail({ reason, sent: this.#isOpen, stale, ...(cause === undefined ? {} : { cause }) });
  }

  #retire(): void {
    if (this.#gone) return;
    this.#gone = true;
    clearTimeout(this.#connecting);
    this.#parser.stop();
    this.#socket.destroy();
    this.#pool.onGone(this);
  }
}
