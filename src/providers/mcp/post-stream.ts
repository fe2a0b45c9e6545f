/**
 * One request of a Streamable HTTP session, from its POST to its answer: as JSON, as a stream, or as a stream that the
 * server cuts and we take up again with Last-Event-ID.
 */
import { type GatheredBytes, GatheredText, headerLine, SMALL_BYTES, type Timer } from "../../contract/index.ts";
import { type Message, MessageFault } from "../../wire/jsonrpc/index.ts";
import { createSseDecoder, type SseDecoder, type SseEvent } from "../../wire/sse/index.ts";
import type { HttpExchange, HttpFailure, HttpHandler, ResponseHead } from "./http/index.ts";
import { describeHttpFailure, describeStatus, type HttpLink, noRoom } from "./http-link.ts";
import { peekAnswer } from "./large-answer.ts";
import { sendPaced } from "./paced-exchange.ts";
import { readMessages } from "./read-messages.ts";
import type { RequestOptions, RequestSink, RequestStream, UpstreamFailure } from "./transport.ts";

const DEFAULT_RETRY_MS = 1000;
/** Whatever the server says: each of its streams would ask it again without a pause. */
export const MIN_RETRY_MS = 500;
const MAX_RETRY_MS = 60_000;
/** Failed tries in a row to take a stream up again. A server that lets us in and ends the stream again is polled on. */
const MAX_RESUME_TRIES = 5;
const MAX_ERROR_BYTES = 64 * 1024;
/** How long a stream may stay open after its answer before we close it. */
const LINGER_MS = 2000;
/** How a server answers a request of an era that it does not speak any more. */
const TURNED_AWAY: readonly number[] = [400, 404, 405];

export class PostStream implements HttpHandler, RequestStream {
  readonly #link: HttpLink;
  readonly #sink: RequestSink;
  /** It belongs to no session: what is cut stays cut, and its answer says nothing about one. */
  readonly #isAlone: boolean;
  #exchange: HttpExchange | undefined;
  #mode: "json" | "sse" | "none" | "error" = "none";
  #status = 0;
  readonly #body = new GatheredText();
  #gathered: GatheredBytes | undefined;
  #decoder: SseDecoder | undefined;
  /** "": there is none. */
  #lastEventId = "";
  #retryMs = DEFAULT_RETRY_MS;
  #tries = 0;
  #isResumed = false;
  #isPaused = false;
  /** The sink has its answer or failure, or wants none. */
  #isOver = false;
  #timer: Timer | undefined;

  constructor(link: HttpLink, sink: RequestSink, text: string, options?: RequestOptions) {
    this.#link = link;
    this.#sink = sink;
    this.#isAlone = options?.head !== undefined;
    const client = options?.isLong ? link.streams : link.posts;
    this.#exchange = sendPaced(client, { method: "POST", head: options?.head ?? link.head, body: text }, this, link);
  }

  pause(): void {
    this.#isPaused = true;
    this.#exchange?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#exchange?.resume();
  }

  abort(): void {
    this.#isOver = true;
    this.#timer?.cancel();
    this.#exchange?.abort();
  }

  onHead(head: ResponseHead): void {
    if (!this.#isAlone) this.#link.onHead(head);
    this.#status = head.status;
    const isOk = head.status >= 200 && head.status < 300;
    if (!isOk) this.#mode = "error";
    else if (head.contentType === "application/json") this.#mode = "json";
    else if (head.contentType === "text/event-stream") this.#startEvents();
    else this.#mode = "none";
  }

  #startEvents(): void {
    this.#mode = "sse";
    this.#tries = 0;
    this.#decoder = createSseDecoder({ maxEventBytes: this.#link.maxBytes, onEvent: (event) => this.#onEvent(event) });
  }

  onData(text: string): void {
    if (this.#mode === "sse") {
      this.#decoder?.push(text);
      this.#count(this.#decoder?.restBytes ?? 0);
    } else if (this.#mode === "json") {
      if (this.#body.length + text.length > this.#link.maxBytes)
        this.#refuseBody({ kind: "invalid", message: "The server's answer is too large." });
      else this.#count(this.#body.add(text).length);
    } else if (this.#mode === "error" && this.#body.length < MAX_ERROR_BYTES) this.#body.add(text);
  }

  #count(bytes: number): void {
    if (!this.#gathered && bytes <= SMALL_BYTES) return;
    this.#gathered ??= this.#link.gather();
    if (!this.#gathered.set(bytes)) this.#refuseBody(noRoom());
  }

  onEnd(): void {
    this.#exchange = undefined;
    this.#gathered?.clear();
    this.#timer?.cancel();
    if (this.#isOver) return;
    if (this.#mode === "sse") {
      if (this.#canResume) this.#sink.onHangUp?.(this.#retryMs);
      this.#resumeOrFail({ kind: "lost", message: "The server ended the stream without an answer." });
    } else if (this.#isResumed)
      this.#fail({ kind: "lost", message: "The server did not let the stream be taken up again." });
    else if (this.#mode === "json") this.#takeBody();
    else if (this.#mode === "error") this.#takeError();
    else this.#fail({ kind: "invalid", message: `The server answered HTTP ${this.#status} without a message.` });
  }

  onError(failure: HttpFailure): void {
    this.#exchange = undefined;
    this.#gathered?.clear();
    this.#timer?.cancel();
    if (this.#isOver) return;
    if (failure.cause instanceof MessageFault) this.#fail(invalidMessage(failure.cause));
    else if (this.#mode === "sse" && failure.reason === "malformed")
      this.#fail({ kind: "invalid", message: "The server's stream cannot be read.", cause: failure.cause });
    else if (this.#mode === "sse" || this.#isResumed)
      this.#resumeOrFail(describeHttpFailure({ ...failure, sent: true }));
    else this.#fail(describeHttpFailure(failure));
  }

  #refuseBody(failure: UpstreamFailure): void {
    const exchange = this.#exchange;
    this.#fail(failure);
    exchange?.abort();
  }

  /** Nobody has looked at it yet, and its sink reads it in its own time. */
  #takeLarge(text: string): boolean {
    const large = this.#sink.onLarge && !this.#isOver ? peekAnswer(text) : undefined;
    if (large?.id !== this.#sink.id) return false;
    this.#linger();
    this.#sink.onLarge?.(large);
    return true;
  }

  #takeBody(): void {
    const text = this.#body.take();
    if (this.#takeLarge(text)) return;
    try {
      for (const message of readMessages(text, this.#link.hasBatches)) this.#take(message);
      if (!this.#isOver) this.#fail({ kind: "invalid", message: "The server answered something else than was asked." });
    } catch (error) {
      if (!(error instanceof MessageFault)) throw error;
      this.#fail(invalidMessage(error));
    }
  }

  /** An error status may still carry the JSON-RPC answer. */
  #takeError(): void {
    const plain = describeStatus(this.#status, this.#link.hasSession);
    const message = plain.kind === "auth" ? undefined : soleMessage(this.#body.take());
    const isForNobody = message?.outcome === "fault" && message.id === "null";
    if (message?.kind === "response" && message.id === this.#sink.id) this.#take(message);
    else if (plain.kind === "invalid" && isForNobody)
      this.#fail({
        ...plain,
        message: faultMessage(message) ?? plain.message,
        isTurnedAway: this.#isAlone || (this.#status === 400 && this.#link.hasSession),
      });
    else this.#fail({ ...plain, ...(this.#isAlone && TURNED_AWAY.includes(this.#status) && { isTurnedAway: true }) });
  }

  get #canResume(): boolean {
    return this.#lastEventId !== "" && !this.#isAlone;
  }

  #onEvent(event: SseEvent): void {
    if (event.id !== undefined) this.#lastEventId = event.id;
    if (event.isIdDropped && !this.#isAlone) this.#link.onLongEventId();
    if (event.retry !== undefined) this.#retryMs = Math.min(Math.max(event.retry, MIN_RETRY_MS), MAX_RETRY_MS);
    if (event.data === "" || event.type !== "message") return;
    if (!this.#takeLarge(event.data))
      for (const message of readMessages(event.data, this.#link.hasBatches)) this.#take(message);
  }

  #take(message: Message): void {
    const isAnswer = message.kind === "response";
    if (this.#isOver || (isAnswer && message.id !== this.#sink.id)) this.#link.onMessage(message);
    else {
      if (isAnswer) this.#linger();
      this.#sink.onMessage(message);
    }
  }

  /** The server ends the stream after its answer; one that does not shall not keep the socket. */
  #linger(): void {
    this.#isOver = true;
    if (this.#mode === "sse") this.#timer = this.#link.timers.after(LINGER_MS, () => this.#exchange?.abort());
  }

  #resumeOrFail(failure: UpstreamFailure): void {
    const head = this.#canResume ? lastEventLine(this.#lastEventId) : undefined;
    if (head === undefined || this.#tries >= MAX_RESUME_TRIES) this.#fail(failure);
    else {
      const pause = this.#retryMs * 2 ** this.#tries;
      this.#tries++;
      this.#timer = this.#link.timers.after(Math.min(pause, MAX_RETRY_MS), () => this.#resumeStream(head));
    }
  }

  #resumeStream(head: string): void {
    this.#isResumed = true;
    this.#mode = "none";
    const { streams, head: own } = this.#link;
    this.#exchange = sendPaced(streams, { method: "GET", head: own + head }, this, this.#link);
    if (this.#isPaused) this.#exchange.pause();
  }

  #fail(failure: UpstreamFailure): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#sink.onFailure(failure);
  }
}

/** The header that asks for what came after that event; undefined when the id cannot stand in a header. */
export function lastEventLine(id: string): string | undefined {
  try {
    return headerLine("Last-Event-ID", id);
  } catch {
    return undefined;
  }
}

function invalidMessage(fault: MessageFault): UpstreamFailure {
  return { kind: "invalid", message: "The server's answer is not a valid message.", cause: fault };
}

function soleMessage(text: string): Message | undefined {
  try {
    return readMessages(text, false)[0];
  } catch {
    return undefined;
  }
}

function faultMessage(message: Message): string | undefined {
  try {
    const { message: text } = message.body.value() as { message?: unknown };
    return typeof text === "string" ? text.slice(0, 500) : undefined;
  } catch {
    return undefined;
  }
}
