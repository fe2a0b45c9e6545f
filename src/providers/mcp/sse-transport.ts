/** HTTP+SSE of 2024-11-05: one GET stream carries every message of the server and names the address to POST to. */
import type { GatheredBytes, Pace, Timers } from "../../contract/index.ts";
import { stringOf } from "../../contract/index.ts";
import { MessageFault } from "../../wire/jsonrpc/index.ts";
import { createSseDecoder, type SseDecoder, type SseEvent } from "../../wire/sse/index.ts";
import type { HttpClient, HttpExchange } from "./http/index.ts";
import { describeHttpFailure, describeStatus, postOnly } from "./http-link.ts";
import { peekAnswer } from "./large-answer.ts";
import type { McpConfig } from "./mcp-config.ts";
import { OwedAnswers } from "./owed-answers.ts";
import { sendPaced } from "./paced-exchange.ts";
import { mayBatch, readMessages } from "./read-messages.ts";
import { SsePost } from "./sse-post.ts";
import {
  type RequestSink,
  type RequestStream,
  type TransportHandlers,
  type UpstreamFailure,
  UpstreamFault,
  type UpstreamTransport,
} from "./transport.ts";

const ENDPOINT_MS = 10_000;
const TAKES_NO_ANSWERS: UpstreamFailure = { kind: "lost", message: "The server asks, and does not take the answers." };
const NO_ENDPOINT: UpstreamFailure = { kind: "unreachable", message: "The server named no endpoint." };

export class SseTransport implements UpstreamTransport {
  readonly hasStreams = false;
  /** The address it gives out is made for one client. */
  readonly issuesSessions = true;
  readonly canAsk = true;
  readonly mayBeModern = false;
  readonly #config: McpConfig;
  readonly #url: URL;
  readonly #streams: HttpClient;
  readonly #pace: Pace;
  readonly #timers: Timers;
  readonly #gathered: GatheredBytes;
  readonly #posts: HttpClient;
  readonly #answers: OwedAnswers;
  /** Where the server wants its messages, once it has said so. */
  #path: string | undefined;
  #stream: HttpExchange | undefined;
  #handlers: TransportHandlers | undefined;
  /** Requests whose POST has not ended, by their ids. */
  readonly #open = new Map<string, SsePost>();
  #opened = Promise.withResolvers<void>();
  #isOver = false;
  #hasBatches = false;

  constructor(options: {
    config: McpConfig;
    /** For requests that end, to whatever path of the server. */
    posts: HttpClient;
    /** For streams that stay open. */
    streams: HttpClient;
    pace: Pace;
    timers: Timers;
    gathered: GatheredBytes;
  }) {
    this.#config = options.config;
    this.#url = new URL(options.config.url ?? "");
    this.#streams = options.streams;
    this.#pace = options.pace;
    this.#timers = options.timers;
    this.#gathered = options.gathered;
    this.#posts = options.posts;
    this.#answers = new OwedAnswers(
      (text) => this.send(text),
      () => this.#lose(TAKES_NO_ANSWERS),
    );
  }

  open(handlers: TransportHandlers): Promise<void> {
    this.#handlers = handlers;
    let status = 0;
    let decoder: SseDecoder | undefined;
    this.#stream = sendPaced(
      this.#streams,
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
        onData: (text) => {
          decoder?.push(text);
          if (!this.#gathered.set(decoder?.restBytes ?? 0)) throw new Error("there is no memory for an event");
        },
        onEnd: () => {
          this.#gathered.clear();
          this.#lose(
            decoder ? { kind: "lost", message: "The server ended the stream." } : describeStatus(status, false),
          );
        },
        onError: (failure) => {
          this.#gathered.clear();
          this.#lose(describeHttpFailure(failure));
        },
      },
      this.#pace,
    );
    const timer = this.#timers.after(ENDPOINT_MS, () =>
      this.#lose({ kind: "invalid", message: "The server named no endpoint in time." }),
    );
    return this.#opened.promise.finally(() => timer.cancel());
  }

  #onEvent(event: SseEvent): void {
    if (event.type === "endpoint") this.#setEndpoint(stringOf(event.data));
    if (event.data === "" || event.type !== "message") return;
    const large = peekAnswer(event.data);
    if (large && this.#handlers?.onLarge?.(large)) return this.#open.get(large.id)?.answered();
    try {
      for (const message of readMessages(event.data, this.#hasBatches)) {
        if (message.kind === "response") this.#open.get(message.id)?.answered();
        this.#handlers?.onMessage(message);
      }
    } catch (error) {
      if (!(error instanceof MessageFault)) throw error;
      this.#handlers?.onFault(error);
    }
  }

  #setEndpoint(reference: string): void {
    if (this.#path !== undefined) return;
    const url = URL.canParse(reference, this.#url.href) ? new URL(reference, this.#url) : undefined;
    // Our credentials go to the server that was configured, not to one that it names.
    if (url?.origin === this.#url.origin) {
      this.#path = url.pathname + url.search;
      this.#opened.resolve();
    } else this.#lose({ kind: "invalid", message: "The server named an endpoint of another origin." });
  }

  request(text: string, sink: RequestSink): RequestStream {
    const path = this.#path;
    if (path === undefined) {
      queueMicrotask(() => sink.onFailure(NO_ENDPOINT));
      return { pause() {}, resume() {}, abort() {} };
    }
    const post = new SsePost(this.#posts, { path, text }, this.#timers, (failure) => {
      this.#open.delete(sink.id);
      if (failure) sink.onFailure(failure);
    });
    this.#open.set(sink.id, post);
    return post;
  }

  send(text: string): Promise<UpstreamFailure | undefined> {
    const path = this.#path;
    if (path === undefined) return Promise.resolve(NO_ENDPOINT);
    return postOnly(this.#posts, { head: "", body: text, hasSession: true, path, timers: this.#timers });
  }

  answer(text: string): Promise<UpstreamFailure | undefined> {
    return this.#answers.send(text);
  }

  agree(version: string): void {
    this.#hasBatches = mayBatch(version);
  }

  listen(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.#isOver = true;
    this.#stream?.abort();
    this.#answers.close();
    for (const post of [...this.#open.values()]) post.abort();
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
