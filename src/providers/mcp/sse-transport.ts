/** HTTP+SSE of 2024-11-05: one GET stream carries every message of the server and names the address to POST to. */
import type { Timers } from "../../contract/index.ts";
import { stringOf } from "../../contract/index.ts";
import { MessageFault } from "../../wire/jsonrpc/index.ts";
import { createSseDecoder, type SseDecoder, type SseEvent } from "../../wire/sse/index.ts";
import { createHttpClient, type HttpClient, type HttpExchange } from "./http/index.ts";
import { describeHttpFailure, describeStatus, postOnly } from "./http-link.ts";
import type { McpConfig } from "./mcp-config.ts";
import { readMessages } from "./read-messages.ts";
import {
  type RequestSink,
  type RequestStream,
  type TransportHandlers,
  type UpstreamFailure,
  UpstreamFault,
  type UpstreamTransport,
} from "./transport.ts";

const ENDPOINT_MS = 10_000;

export class SseTransport implements UpstreamTransport {
  readonly hasStreams = false;
  /** The address it gives out is made for one client. */
  readonly issuesSessions = true;
  readonly canAsk = true;
  readonly mayBeModern = false;
  readonly #config: McpConfig;
  readonly #url: URL;
  readonly #streams: HttpClient;
  readonly #timers: Timers;
  readonly #as: (client: HttpClient) => HttpClient;
  #posts: HttpClient | undefined;
  #sockets: HttpClient | undefined;
  #stream: HttpExchange | undefined;
  #handlers: TransportHandlers | undefined;
  #opened = Promise.withResolvers<void>();
  #isOver = false;

  /** `as`: gives a client the credentials with which the server is called. */
  constructor(options: {
    config: McpConfig;
    streams: HttpClient;
    timers: Timers;
    as?: (client: HttpClient) => HttpClient;
  }) {
    this.#config = options.config;
    this.#url = new URL(options.config.url ?? "");
    this.#streams = options.streams;
    this.#timers = options.timers;
    this.#as = options.as ?? ((client) => client);
  }

  open(handlers: TransportHandlers): Promise<void> {
    this.#handlers = handlers;
    let status = 0;
    let decoder: SseDecoder | undefined;
    this.#stream = this.#streams.send(
      { method: "GET", head: "" },
      {
        onHead: (head) => {
          status = head.status;
          if (status === 200 && head.contentType === "text/event-stream")
            decoder = createSseDecoder({
              maxEventBytes: this.#config.maxMessage,
              onEvent: (event) => this.#onEvent(event),
            });
        },
        onData: (text) => decoder?.push(text),
        onEnd: () =>
          this.#lose(
            decoder ? { kind: "lost", message: "The server ended the stream." } : describeStatus(status, false),
          ),
        onError: (failure) => this.#lose(describeHttpFailure(failure)),
      },
    );
    const timer = this.#timers.after(ENDPOINT_MS, () =>
      this.#lose({ kind: "invalid", message: "The server named no endpoint in time." }),
    );
    return this.#opened.promise.finally(() => timer.cancel());
  }

  #onEvent(event: SseEvent): void {
    if (event.type === "endpoint") this.#setEndpoint(stringOf(event.data));
    if (event.data === "" || event.type !== "message") return;
    try {
      for (const message of readMessages(event.data)) this.#handlers?.onMessage(message);
    } catch (error) {
      if (!(error instanceof MessageFault)) throw error;
      this.#handlers?.onFault(error);
    }
  }

  #setEndpoint(reference: string): void {
    if (this.#posts) return;
    const url = URL.canParse(reference, this.#url.href) ? new URL(reference, this.#url) : undefined;
    // Our credentials go to the server that was configured, not to one that it names.
    if (url?.origin === this.#url.origin) {
      this.#sockets = createHttpClient({ url, headers: this.#config.headers });
      this.#posts = this.#as(this.#sockets);
      this.#opened.resolve();
    } else this.#lose({ kind: "invalid", message: "The server named an endpoint of another origin." });
  }

  request(text: string, sink: RequestSink): RequestStream {
    // Without a limit of its own: some servers accept a request only when they have answered it.
    void this.#post(text).then((failure) => failure && sink.onFailure(failure));
    return { pause() {}, resume() {}, abort() {} };
  }

  send(text: string): Promise<UpstreamFailure | undefined> {
    return this.#post(text, this.#timers);
  }

  #post(body: string, timers?: Timers): Promise<UpstreamFailure | undefined> {
    const request = { head: "", body, hasSession: true, ...(timers && { timers }) };
    if (this.#posts) return postOnly(this.#posts, request);
    return Promise.resolve({ kind: "unreachable", message: "The server named no endpoint." });
  }

  agree(): void {}

  listen(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.#isOver = true;
    this.#stream?.abort();
    this.#sockets?.close();
    this.#opened.promise.catch(() => undefined);
    this.#opened.reject(new UpstreamFault({ kind: "unreachable", message: "The session was closed." }));
    return Promise.resolve();
  }

  #lose(failure: UpstreamFailure): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stream?.abort();
    this.#opened.promise.catch(() => undefined);
    this.#opened.reject(new UpstreamFault(failure));
    this.#handlers?.onLost(failure);
  }
}
