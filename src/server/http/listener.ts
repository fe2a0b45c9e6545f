/** Accepts connections, keeps their number and their time in bounds, and lets go of them in good order. */
import { createServer, type Server, type Socket } from "node:net";
import type { HttpRequest, HttpResponse, Timer, Timers } from "../../contract/index.ts";
import { dateLine } from "./answer-text.ts";
import { type ConnectionHost, type ConnectionLimits, HttpConnection } from "./connection.ts";
import type { Exchange } from "./exchange.ts";
import { RequestFault } from "./request-fault.ts";
import { TlsServer, type TlsTerms } from "./tls-server.ts";

export type HttpListenerOptions = {
  readonly timers: Timers;
  /** Answers, sooner or later. What it throws is logged, and the client gets 500. */
  readonly onRequest: (request: HttpRequest, response: HttpResponse) => void;
  readonly onError: (cause: unknown) => void;
  /** Hears of each body that did not come with its head when it is whole, and hands it over or answers; unset: hands it over. */
  readonly onLateBody?: (request: HttpRequest, response: HttpResponse, handOver: () => void) => void;
  /** A client was turned away with this status before its request could be handed over as a whole. */
  readonly onRefused?: (status: number, peer: string | undefined) => void;
  /** Who sends these headers; `peer`: the other end of the connection, which it is unless this says otherwise. */
  readonly clientAddress?: (peer: string, headers: HttpRequest["headers"]) => string | undefined;
  /** Default 20,000. Further ones are answered with 503. */
  readonly maxConnections?: number;
  readonly limits?: Partial<ConnectionLimits>;
  /** Unset: plain HTTP. */
  readonly tls?: TlsTerms;
  /** Asked before each write; false: the connection is destroyed instead. Must cost next to nothing. */
  readonly mayWrite?: () => boolean;
};

const TICK_MS = 1000;
/** Idle for longer than the usual 60 s of clients and proxies: the side that asks should be the one that closes. */
const LIMITS: ConnectionLimits = { head: 15, body: 30, wholeBody: 300, idle: 65, linger: 5, stalledWriteMs: 120_000 };
/** Those that are told 503 need a moment to read it. */
const MAX_REFUSED = 1000;
const PROBE_MS = 30_000;

export class HttpListener implements ConnectionHost {
  readonly limits: ConnectionLimits;
  readonly mayWrite: (() => boolean) | undefined;
  dateLine = dateLine();
  tick = 0;
  isDraining = false;
  closesIdle = false;
  readonly server: Server;
  readonly #options: HttpListenerOptions;
  readonly #max: number;
  readonly #connections = new Set<HttpConnection>();
  readonly #tls: TlsServer | undefined;
  #timer: Timer | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: HttpListenerOptions) {
    this.#options = options;
    this.#max = options.maxConnections ?? 20_000;
    this.limits = { ...LIMITS, ...options.limits };
    this.mayWrite = options.mayWrite;
    // Half open: a client may end its side when it has asked. Probed: a stream may be silent for hours.
    const probes = { keepAlive: true, keepAliveInitialDelay: PROBE_MS };
    const sockets = { allowHalfOpen: true, noDelay: true, ...probes };
    const accept = (socket: Socket) => this.accept(socket);
    this.#tls = options.tls && new TlsServer(options.tls, sockets, accept);
    this.server = this.#tls?.server ?? createServer(sockets, accept);
    // Those in a handshake are not among our connections yet.
    if (this.#tls) this.server.maxConnections = this.#max + MAX_REFUSED;
  }

  get connections(): number {
    return this.#connections.size;
  }

  /** Another certificate, for connections that come from now on. */
  renew(terms: TlsTerms): void {
    this.#tls?.renew(terms);
  }

  accept(socket: Socket): void {
    if (this.#connections.size >= this.#max + MAX_REFUSED) {
      socket.destroy();
      return;
    }
    if (!this.#timer) this.#arm();
    const connection = new HttpConnection(socket, this);
    this.#connections.add(connection);
    if (this.#connections.size > this.#max) connection.refuse(new RequestFault(503, "too many connections"));
  }

  onRequest(exchange: Exchange): void {
    this.#options.onRequest(exchange, exchange);
  }

  onLateBody(exchange: Exchange, handOver: () => void): void {
    const { onLateBody } = this.#options;
    if (onLateBody) onLateBody(exchange, exchange, handOver);
    else handOver();
  }

  onError(cause: unknown): void {
    this.#options.onError(cause);
  }

  onRefused(status: number, peer: string | undefined): void {
    this.#options.onRefused?.(status, peer);
  }

  clientAddress(peer: string, headers: HttpRequest["headers"]): string | undefined {
    const { clientAddress } = this.#options;
    return clientAddress ? clientAddress(peer, headers) : peer;
  }

  onGone(connection: HttpConnection): void {
    this.#connections.delete(connection);
  }

  #arm(): void {
    this.dateLine = dateLine();
    this.#timer = this.#options.timers.after(TICK_MS, () => {
      this.tick++;
      this.#timer = undefined;
      for (const connection of this.#connections) connection.check();
      // Without a connection nobody is watched, and the process may sleep.
      if (this.#connections.size > 0) this.#arm();
    });
  }

  /** Breaks off every connection there is, in the middle of whatever it does. New ones are taken. */
  cutAll(): void {
    for (const connection of this.#connections) connection.destroy();
    this.#tls?.cutAll();
  }

  /** Lets no connection be used again after its next answer; new ones are taken. */
  leave(): void {
    this.isDraining = true;
  }

  /** Takes no more connections. Those that are there may be used once more: a request may be on its way on any of them. */
  stopAccepting(): void {
    if (this.#closed !== undefined) return;
    this.isDraining = true;
    this.#closed = new Promise((resolve) => this.server.close(() => resolve()));
  }

  /** Closes connections that wait for nothing, and from now on each as soon as it does. */
  closeIdle(): void {
    this.closesIdle = true;
    for (const connection of this.#connections) connection.closeIdle();
  }

  /** Ends what is still open. Safe to call twice. */
  async close(): Promise<void> {
    this.stopAccepting();
    this.closeIdle();
    this.cutAll();
    this.#timer?.cancel();
    await this.#closed;
  }
}
