/** Where the other processes of the gateway come in. What they bring is read as strictly as what comes from outside. */
import type { AddressInfo } from "node:net";
import type { Server } from "node:tls";
import {
  type ByteBudget,
  type Clock,
  GatewayError,
  type HttpRequest,
  type HttpResponse,
  headerLine,
  type Log,
  type Timers,
  textOf,
} from "../../contract/index.ts";
import { RepeatedWarning } from "../../providers/mcp/repeated-warning.ts";
import { errorText } from "../../wire/jsonrpc/index.ts";
import { Handshakes, HttpListener, ownConnectionBound, PORTS_OF_MEMBER } from "../http/index.ts";
import { answerNoRoom, callerOf, heldBy } from "../no-room.ts";
import { addressOf, markOf, principalOf, REFUSED } from "./hop-lines.ts";
import { createHopServer } from "./hop-tls.ts";

export type HopHandler = (request: HttpRequest, response: HttpResponse) => void;

export type HopListenerOptions = {
  readonly key: Buffer;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  /** Of the messages that the process holds; unset: it has no end. */
  readonly budget?: ByteBudget | undefined;
  /** Whom requests must be for. */
  readonly selfId: () => string;
  readonly mayWrite: () => boolean;
  readonly onRequest: HopHandler;
};

/** A request passes so many processes at the most: more means that they do not agree on who is the home. */
export const MAX_HOPS = 3;
/** Connections that have not shown the key, at a time. */
const MAX_HANDSHAKES = 64;
/** Where few files may be open: of what the port may have, for these beside it. */
const HANDSHAKE_PART = 1 / 4;

export class HopListener {
  readonly #options: HopListenerOptions;
  readonly #server: Server;
  readonly #http: HttpListener;
  readonly #handshakes: Handshakes;
  readonly #strangers: RepeatedWarning;
  /** Set here alone, so that no header of a client can say it. */
  readonly #passed = new WeakMap<HttpRequest, number>();
  #isLeaving = false;
  #closed: Promise<void> | undefined;

  constructor(options: HopListenerOptions) {
    this.#options = options;
    const { log, clock, timers, mayWrite, budget } = options;
    this.#strangers = new RepeatedWarning(log, clock, "stranger at the cluster's door");
    const bound = ownConnectionBound(PORTS_OF_MEMBER);
    this.#handshakes = new Handshakes(Math.min(MAX_HANDSHAKES, Math.ceil(bound * HANDSHAKE_PART)));
    this.#http = new HttpListener({
      ...(budget && { budget }),
      holderOf: heldBy,
      callerOf,
      onNoRoom: answerNoRoom,
      timers,
      mayWrite,
      ports: PORTS_OF_MEMBER,
      clientAddress: (_peer, headers) => addressOf(headers),
      onRequest: (request, response) => this.#take(request, response),
      onFull: (connections) =>
        log.warn("too many connections: those that nobody needs are closed, then those of whoever has most", {
          connections,
        }),
      onError: (cause) => log.error("request failed", { cause }),
    });
    this.#server = createHopServer(options.key, {
      onConnection: (socket) => this.#handshakes.add(socket),
      onPeer: (socket) => {
        this.#handshakes.end(socket);
        this.#http.accept(socket);
      },
      onStranger: (cause) => this.#strangers.note({ cause }),
    });
  }

  passed(request: HttpRequest): number {
    return this.#passed.get(request) ?? 0;
  }

  get connections(): number {
    return this.#http.connections;
  }

  /** Resolves with the port that was taken. Rejects with the error of the system. */
  async listen(host: string, port: number): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen({ host, port }, () => {
        this.#server.off("error", reject);
        resolve();
      });
    });
    this.#server.on("error", (cause) => this.#options.log.error("cluster listener failed", { cause }));
    return (this.#server.address() as AddressInfo).port;
  }

  /** Turns away what comes from now on, so that it is served elsewhere; what has begun goes on. */
  drain(): void {
    this.#isLeaving = true;
  }

  cutAll(): void {
    this.#http.cutAll();
  }

  /** Safe to call twice. */
  async close(): Promise<void> {
    this.#isLeaving = true;
    this.#closed ??= new Promise((resolve) => this.#server.close(() => resolve()));
    this.#handshakes.closeAll();
    await this.#http.close();
    await this.#closed;
    this.#strangers.end();
  }

  #take(request: HttpRequest, response: HttpResponse): void {
    const mark = markOf(request.headers);
    // For somebody who lived at this address before us, or for who we were before we lost our lease.
    if (this.#isLeaving || mark?.to !== this.#options.selfId()) {
      request.discard();
      response.answer(421, headerLine(REFUSED, "1"), "");
    } else if (mark.passed > MAX_HOPS) {
      request.discard();
      answerUnserved(response, "The processes of the gateway do not agree on where this is served.");
    } else {
      this.#passed.set(request, mark.passed);
      request.principal = principalOf(request.headers);
      this.#options.onRequest(request, response);
    }
  }
}

/** To the client: it may come again in a moment. */
export function answerUnserved(response: HttpResponse, message: string): void {
  const { code } = new GatewayError("STATE_UNAVAILABLE");
  const body = errorText("null", { code: -32603, message, data: { code, retry: "later" } });
  response.answer(503, "Content-Type: application/json\r\nRetry-After: 1\r\n", textOf(body));
}
