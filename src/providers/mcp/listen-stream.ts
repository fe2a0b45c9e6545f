/** The GET stream of a Streamable HTTP session: what the server says outside requests. Kept open as long as it may be. */
import { GatewayError, type GatheredBytes, type Timer } from "../../contract/index.ts";
import { MessageFault } from "../../wire/jsonrpc/index.ts";
import { createSseDecoder, type SseDecoder, type SseEvent } from "../../wire/sse/index.ts";
import type { HttpExchange, HttpFailure, HttpHandler, ResponseHead } from "./http/index.ts";
import type { HttpLink } from "./http-link.ts";
import { sendPaced } from "./paced-exchange.ts";
import { lastEventLine, MIN_RETRY_MS } from "./post-stream.ts";
import { readMessages } from "./read-messages.ts";

const DEFAULT_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 30_000;
/** Servers that write no head before the first event shall not delay the first call for long. */
const FIRST_HEAD_MS = 500;

export type ListenOptions = {
  /** The stream goes on after this event; "": it begins with what comes now. */
  readonly lastEventId: string;
  onEventId(id: string): void;
  onExpired(): void;
  /** The server could not be reached for it. It is tried again. */
  onUnreachable(): void;
};

export class ListenStream implements HttpHandler {
  /** The server has no such stream. */
  isRefused = false;
  readonly #link: HttpLink;
  readonly #options: ListenOptions;
  readonly #gathered: GatheredBytes;
  #exchange: HttpExchange | undefined;
  #decoder: SseDecoder | undefined;
  #lastEventId: string;
  #retryMs = DEFAULT_PAUSE_MS;
  #tries = 0;
  #wasOpen = false;
  #isClosed = false;
  #timer: Timer | undefined;
  #onFirst: () => void = () => undefined;

  constructor(link: HttpLink, options: ListenOptions) {
    this.#link = link;
    this.#gathered = link.gather();
    this.#options = options;
    this.#lastEventId = options.lastEventId;
  }

  /** The server has agreed to the stream, and it has not ended for good. */
  get isOpen(): boolean {
    return this.#wasOpen && !this.#isClosed;
  }

  /** Resolves when the server has answered, or after half a second. */
  open(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = this.#link.timers.after(FIRST_HEAD_MS, resolve);
    this.#onFirst = () => {
      timer.cancel();
      resolve();
    };
    this.#connect();
    return promise;
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#exchange?.abort();
    this.#onFirst();
  }

  onHead(head: ResponseHead): void {
    this.#onFirst();
    if (head.status === 200 && head.contentType === "text/event-stream") {
      this.#wasOpen = true;
      this.#tries = 0;
      this.#decoder = createSseDecoder({
        maxEventBytes: this.#link.maxBytes,
        onEvent: (event) => this.#onEvent(event),
      });
      return;
    }
    this.#decoder = undefined;
    if (head.status === 404 && this.#wasOpen) {
      this.#isClosed = true;
      this.#options.onExpired();
    }
    // 409: our former stream is still counted as open. Any other refusal means that there is no such stream.
    else if (head.status !== 409 && head.status !== 429 && head.status < 500) {
      this.isRefused = true;
      this.#isClosed = true;
    }
  }

  /** Throws where there is no memory for an event: the stream is taken up again. */
  onData(text: string): void {
    this.#decoder?.push(text);
    const bytes = this.#decoder?.restBytes ?? 0;
    if (!this.#gathered.set(bytes)) throw new Error("there is no memory for an event of the stream");
  }

  onEnd(): void {
    this.#gathered.clear();
    this.#reconnect();
  }

  onError(failure: HttpFailure): void {
    this.#gathered.clear();
    // There are no credentials for it. For want of sockets it is only tried again later.
    if (GatewayError.is(failure.cause) && failure.cause.code !== "OVERLOADED") {
      this.isRefused = true;
      this.#isClosed = true;
    }
    if (!this.#isClosed && failure.reason !== "aborted")
      this.#link.log.debug("upstream listening stream broke", { reason: failure.reason, cause: failure.cause });
    this.#reconnect();
    if (!this.#isClosed && !failure.sent) this.#options.onUnreachable();
  }

  #onEvent(event: SseEvent): void {
    if (event.id !== undefined) this.#moveTo(event.id);
    if (event.isIdDropped) this.#link.onLongEventId();
    if (event.retry !== undefined) this.#retryMs = Math.min(Math.max(event.retry, MIN_RETRY_MS), MAX_PAUSE_MS);
    if (event.data === "" || event.type !== "message") return;
    try {
      for (const message of readMessages(event.data, this.#link.hasBatches)) this.#link.onMessage(message);
    } catch (error) {
      if (!(error instanceof MessageFault)) throw error;
      this.#link.onFault(error);
    }
  }

  #moveTo(id: string): void {
    this.#lastEventId = id;
    this.#options.onEventId(id);
  }

  #connect(): void {
    if (this.#isClosed) return;
    const last = this.#lastEventId === "" ? "" : (lastEventLine(this.#lastEventId) ?? "");
    const { streams, head } = this.#link;
    this.#exchange = sendPaced(streams, { method: "GET", head: head + last }, this, this.#link);
  }

  #reconnect(): void {
    this.#onFirst();
    this.#exchange = undefined;
    if (this.#isClosed) return;
    const pause = Math.min(this.#retryMs * 2 ** this.#tries, MAX_PAUSE_MS);
    this.#tries = Math.min(this.#tries + 1, 8);
    this.#timer = this.#link.timers.after(pause * (0.75 + Math.random() / 2), () => this.#connect());
  }
}
