/** Streamable HTTP: a POST per message; until 2025-11-25 also a session id, if the server wants one, and a GET stream. */
import {
  type Clock,
  copyText,
  type GatheredBytes,
  headerLine,
  type Log,
  type Slices,
  type Timers,
} from "../../contract/index.ts";
import type { Message, MessageFault } from "../../wire/jsonrpc/index.ts";
import { MAX_EVENT_ID } from "../../wire/sse/index.ts";
import type { HttpClient, ResponseHead } from "./http/index.ts";
import { type HttpLink, postOnly } from "./http-link.ts";
import { ListenStream } from "./listen-stream.ts";
import { PostStream } from "./post-stream.ts";
import { mayBatch } from "./read-messages.ts";
import {
  MAX_SESSION_ID,
  type RequestOptions,
  type RequestSink,
  type RequestStream,
  type SessionHandle,
  type TransportHandlers,
  type UpstreamFailure,
  UpstreamFault,
  type UpstreamTransport,
} from "./transport.ts";

/** How long the server may take to hear that its session is over. */
const DELETE_MS = 1000;

export type HttpTransportOptions = {
  readonly posts: HttpClient;
  readonly streams: HttpClient;
  readonly maxBytes: number;
  readonly gather: () => GatheredBytes;
  readonly clock: Clock;
  readonly slices: Slices;
  readonly timers: Timers;
  readonly log: Log;
};

export class HttpTransport implements UpstreamTransport, HttpLink {
  readonly hasStreams = true;
  readonly mayBeModern = true;
  readonly posts: HttpClient;
  readonly streams: HttpClient;
  readonly clock: Clock;
  readonly slices: Slices;
  readonly timers: Timers;
  readonly log: Log;
  readonly maxBytes: number;
  readonly gather: () => GatheredBytes;
  head = "";
  hasBatches = false;
  #sessionId = "";
  #sessionLine = "";
  #versionLine = "";
  #handlers: TransportHandlers | undefined;
  #listen: ListenStream | undefined;
  #lastEventId = "";
  #isClosed = false;
  #hasLongEventId = false;

  constructor(options: HttpTransportOptions) {
    this.posts = options.posts;
    this.streams = options.streams;
    this.maxBytes = options.maxBytes;
    this.gather = options.gather;
    this.clock = options.clock;
    this.slices = options.slices;
    this.timers = options.timers;
    this.log = options.log;
  }

  get hasSession(): boolean {
    return this.#sessionLine !== "";
  }

  get issuesSessions(): boolean {
    return this.hasSession;
  }

  get hears(): boolean {
    return this.#listen?.isOpen ?? false;
  }

  /** A server without sessions and without a GET stream forgets each request with its answer. */
  get canAsk(): boolean {
    return this.hasSession || this.#listen?.isRefused !== true;
  }

  get handle(): SessionHandle | undefined {
    return this.hasSession ? { id: this.#sessionId, lastEventId: this.#lastEventId } : undefined;
  }

  open(handlers: TransportHandlers): Promise<void> {
    this.#handlers = handlers;
    return Promise.resolve();
  }

  request(text: string, sink: RequestSink, options?: RequestOptions): RequestStream {
    return new PostStream(this, sink, text, options);
  }

  send(text: string, head = this.head): Promise<UpstreamFailure | undefined> {
    return postOnly(this.posts, { head, body: text, hasSession: this.hasSession, timers: this.timers });
  }

  agree(version: string): void {
    this.hasBatches = mayBatch(version);
    this.#versionLine = headerLine("MCP-Protocol-Version", version);
    this.head = this.#sessionLine + this.#versionLine;
  }

  resume({ id, lastEventId }: SessionHandle, version: string): void {
    this.#name(id);
    this.#lastEventId = lastEventId;
    this.agree(version);
  }

  #name(id: string): void {
    this.#sessionId = copyText(id);
    this.#sessionLine = headerLine("Mcp-Session-Id", id);
    this.head = this.#sessionLine;
  }

  listen(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    this.#listen = new ListenStream(this, {
      lastEventId: this.#lastEventId,
      onEventId: (id) => {
        this.#lastEventId = id;
        this.#handlers?.onHandle?.();
      },
      onUnreachable: () => this.#handlers?.onUnheard?.(),
      onExpired: () => this.#handlers?.onLost({ kind: "expired", message: "The server has ended the session." }),
    });
    return this.#listen.open();
  }

  async close(isKept = false): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#listen?.close();
    if (this.hasSession && !isKept) await this.#deleteSession();
  }

  #deleteSession(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const exchange = this.posts.send(
      { method: "DELETE", head: this.head },
      { onHead() {}, onData() {}, onEnd: resolve, onError: () => resolve() },
    );
    const timer = this.timers.after(DELETE_MS, () => exchange.abort());
    return promise.finally(() => timer.cancel());
  }

  onHead(head: ResponseHead): void {
    // Only the first answer, the one to initialize, names the session.
    if (this.#versionLine !== "" || this.hasSession || head.status < 200 || head.status >= 300) return;
    const id = head.header("mcp-session-id");
    if (id !== undefined && id.length > MAX_SESSION_ID)
      throw new UpstreamFault({
        kind: "invalid",
        message: `The server's session id has more than ${MAX_SESSION_ID} bytes.`,
      });
    if (id !== undefined && id !== "") this.#name(id);
  }

  onLongEventId(): void {
    if (!this.#hasLongEventId) this.log.warn("upstream event id too long to go on from", { most: MAX_EVENT_ID });
    this.#hasLongEventId = true;
  }

  onMessage(message: Message): void {
    this.#handlers?.onMessage(message);
  }

  onFault(fault: MessageFault): void {
    this.#handlers?.onFault(fault);
  }
}
