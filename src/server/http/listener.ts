/** Accepts connections, keeps their number and their time in bounds, and lets go of them in good order. */
import { createServer, type Server, type Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import {
  ByteBudget,
  type Holder,
  type HttpRequest,
  type HttpResponse,
  type Timer,
  type Timers,
} from "../../contract/index.ts";
import { systemClock } from "../clock.ts";
import { dateLine } from "./answer-text.ts";
import { HttpConnection } from "./connection.ts";
import { ownConnectionBound } from "./connection-bound.ts";
import type { ConnectionHost, ConnectionLimits } from "./connection-host.ts";
import type { Exchange } from "./exchange.ts";
import { roomMade, TOO_MANY, whoGivesWay } from "./making-room.ts";
import { RequestFault } from "./request-fault.ts";
import { RequestTurns } from "./request-turns.ts";
import { TlsServer, type TlsTerms } from "./tls-server.ts";
import { UnfinishedBook } from "./unfinished.ts";
import { UnreadBook, type UnreadLimits, unreadLimits } from "./unread.ts";

export type HttpListenerOptions = {
  readonly timers: Timers;
  /** Answers, sooner or later. What it throws is logged, and the client gets 500. */
  readonly onRequest: (request: HttpRequest, response: HttpResponse) => void;
  readonly onError: (cause: unknown) => void;
  /** Header lines that every answer to this request has, whoever gives it; unset: none. Must cost next to nothing. */
  readonly linesFor?: (request: HttpRequest) => string;
  /** Hears of each body that did not come with its head when it is whole, and hands it over or answers; unset: hands it over. */
  readonly onLateBody?: (request: HttpRequest, response: HttpResponse, handOver: () => void) => void;
  /** Of messages that are not whole, of bodies until they are answered, and of what is not read; unset: without an end. */
  readonly budget?: ByteBudget;
  /** Whose bytes come on a connection from there; `request`: whose body it is. Unset: whoever has that address. */
  readonly holderOf?: (peer: string, request: HttpRequest | undefined) => Holder;
  /** Who is known by name: then it has a share of the connections. Unset: nobody. */
  readonly callerOf?: (request: HttpRequest) => Holder | undefined;
  /** Answers a request whose body does not fit in memory now; unset: with 503. */
  readonly onNoRoom?: (request: HttpRequest, response: HttpResponse) => void;
  /** A client was turned away with this status before its request could be handed over as a whole. */
  readonly onRefused?: (status: number, peer: string | undefined) => void;
  /** A client was cut off that left too much of its answers unread. */
  readonly onUnread?: (peer: string | undefined) => void;
  /** Who sends these headers; `peer`: the other end of the connection, which it is unless this says otherwise. */
  readonly clientAddress?: (peer: string, headers: HttpRequest["headers"]) => string | undefined;
  /** Unset: as many as the process may hold. Beyond that see `whoGivesWay`; where nobody does, new ones are answered with 503. */
  readonly maxConnections?: number;
  /** Without `maxConnections`: at how many ports of the process others may connect, so that each has its part. Unset: this one. */
  readonly ports?: number;
  /** There are as many connections as there may be, for the first time since there were clearly fewer. */
  readonly onFull?: (most: number) => void;
  readonly limits?: Partial<ConnectionLimits>;
  readonly unread?: UnreadLimits;
  /** Unset: plain HTTP. */
  readonly tls?: TlsTerms;
  /** Asked before each write; false: the connection is destroyed instead. Must cost next to nothing. */
  readonly mayWrite?: () => boolean;
};

const TICK_MS = 1000;
/** Idle for longer than the usual 60 s of clients and proxies: the side that asks should be the one that closes. */
const LIMITS: ConnectionLimits = { head: 15, body: 30, wholeBody: 300, idle: 65, linger: 5, stalledWriteMs: 120_000 };
/** Beside those that there may be: those that are told 503, who need a moment to read it. */
const REFUSED_PART = 1 / 16;
/** Over TLS, of all: those in their handshakes, for which others that have come through need not go. */
const HANDSHAKE_PART = 1 / 4;
/** Who comes again and again must not have all looked at all the time: what found few is done again after so many times what it took. */
const LOOKS_PART = 10;
/** To look at so many takes next to nothing. */
const FEW = 1_000;
/** Below that part of the bound the next time at it is news. */
const CALM_PART = 3 / 4;
const PROBE_MS = 30_000;
const RETRY_SOON = "Retry-After: 1\r\n";
/** Twice as many as can wait: Node lets 511. */
const MAX_WAITING = 1_000;

export class HttpListener implements ConnectionHost {
  readonly limits: ConnectionLimits;
  readonly budget: ByteBudget;
  readonly unfinished: UnfinishedBook;
  readonly unread: UnreadBook;
  readonly turns = new RequestTurns();
  readonly mayWrite: (() => boolean) | undefined;
  dateLine = dateLine();
  tick = 0;
  isDraining = false;
  closesIdle = false;
  readonly server: Server;
  readonly #options: HttpListenerOptions;
  readonly #max: number;
  readonly #maxRefused: number;
  readonly #connections = new Set<HttpConnection>();
  readonly #tls: TlsServer | undefined;
  #timer: Timer | undefined;
  #closed: Promise<void> | undefined;
  #taken = 0;
  #isFull = false;
  readonly #clock = systemClock;
  #lookAfter = 0;

  constructor(options: HttpListenerOptions) {
    this.#options = options;
    const handshakes = options.tls ? HANDSHAKE_PART : 0;
    const own = () => ownConnectionBound(options.ports) * (1 - REFUSED_PART - handshakes);
    this.#max = options.maxConnections ?? Math.ceil(own());
    this.#maxRefused = Math.ceil(this.#max * REFUSED_PART);
    this.limits = { ...LIMITS, ...options.limits };
    this.budget = options.budget ?? new ByteBudget(Number.POSITIVE_INFINITY);
    this.unfinished = new UnfinishedBook(this.budget);
    this.unread = new UnreadBook(options.unread ?? unreadLimits(this.budget), this.budget);
    this.mayWrite = options.mayWrite;
    // Half open: a client may end its side when it has asked. Probed: a stream may be silent for hours.
    const probes = { keepAlive: true, keepAliveInitialDelay: PROBE_MS };
    const sockets = { allowHalfOpen: true, noDelay: true, ...probes };
    const accept = (socket: Socket) => this.accept(socket);
    const maxHandshakes = Math.ceil((this.#max * handshakes) / (1 - handshakes));
    this.#tls = options.tls && new TlsServer(options.tls, { ...sockets, maxHandshakes }, accept);
    this.server = this.#tls?.server ?? createServer(sockets, accept);
    this.server.on("connection", () => this.#taken++);
  }

  get connections(): number {
    return this.#connections.size;
  }

  /** Another certificate, for connections that come from now on. */
  renew(terms: TlsTerms): void {
    this.#tls?.renew(terms);
  }

  accept(socket: Socket): void {
    if (this.#connections.size >= this.#max) this.#makeRoom();
    if (this.#connections.size >= this.#max + this.#maxRefused) {
      socket.destroy();
      return;
    }
    if (!this.#timer) this.#arm();
    const connection = new HttpConnection(socket, this);
    this.#connections.add(connection);
    if (this.#connections.size > this.#max) connection.refuse(new RequestFault(503, TOO_MANY));
  }

  /** A client that asks for something goes before those that wait for nothing, or have more than their share. */
  #makeRoom(): void {
    if (!this.#isFull) this.#options.onFull?.(this.#max);
    this.#isFull = true;
    const from = this.#clock.now();
    if (from < this.#lookAfter) return;
    const { callerOf } = this.#options;
    const found = whoGivesWay({
      clients: this.#connections,
      most: this.#max,
      tick: this.tick,
      holderOf: ({ peerAddress, exchange }) => this.holderOf(peerAddress, exchange),
      callerOf: ({ exchange }) => exchange && callerOf?.(exchange),
    });
    const isCheap = this.#max <= FEW && found.length > 0;
    if (found.length < roomMade(this.#max) && !isCheap)
      this.#lookAfter = from + (this.#clock.now() - from) * LOOKS_PART;
    for (const connection of found) {
      // It is told so later, and the next one comes now.
      this.#connections.delete(connection);
      connection.leavePlace();
    }
  }

  onRequest(exchange: Exchange): void {
    const { linesFor } = this.#options;
    if (linesFor) exchange.extraLines = linesFor(exchange);
    this.#options.onRequest(exchange, exchange);
  }

  holderOf(peer: string, exchange: Exchange | undefined): Holder {
    const { holderOf } = this.#options;
    return holderOf ? holderOf(peer, exchange) : { name: peer };
  }

  onNoRoom(exchange: Exchange): void {
    const { onNoRoom } = this.#options;
    if (onNoRoom) return onNoRoom(exchange, exchange);
    exchange.discard();
    exchange.answer(503, RETRY_SOON, "");
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

  onUnread(peer: string | undefined): void {
    this.#options.onUnread?.(peer);
  }

  clientAddress(peer: string, headers: HttpRequest["headers"]): string | undefined {
    const { clientAddress } = this.#options;
    return clientAddress ? clientAddress(peer, headers) : peer;
  }

  onGone(connection: HttpConnection): void {
    this.#connections.delete(connection);
    if (this.#connections.size < this.#max * CALM_PART) this.#isFull = false;
  }

  #arm(): void {
    this.dateLine = dateLine();
    this.#timer = this.#options.timers.after(TICK_MS, () => {
      this.tick++;
      this.#timer = undefined;
      this.unread.tick();
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

  get isListening(): boolean {
    return this.server.listening;
  }

  /** Lets no connection be used again after its next answer; new ones are taken. */
  leave(): void {
    this.isDraining = true;
  }

  /**
   * Takes all that have connected by now: Node takes one in each turn, and those that nobody has taken are reset with what is
   * listened on, together with the requests that may be on them.
   */
  async takeWaiting(): Promise<void> {
    let before = -1;
    for (let turns = 0; turns < MAX_WAITING && before !== this.#taken; turns++) {
      before = this.#taken;
      await turn();
    }
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
