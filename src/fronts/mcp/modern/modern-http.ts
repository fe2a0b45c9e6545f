/** 2026-07-28 over HTTP: one POST for each request, a single JSON answer or an event stream that ends with it. */
import type { GatewayError, HttpResponse } from "../../../contract/index.ts";
import type { FrontContext } from "../front-context.ts";
import type { Accepts } from "../http/accept.ts";
import type { LateAnswers, Waiting } from "../http/late-answers.ts";
import { SseStream, type StreamOwner } from "../http/sse-stream.ts";
import type { ModernOutlet, OutletOwner } from "./exchange.ts";

const JSON_LINE = "Content-Type: application/json\r\n";

export type ModernHttpOptions = {
  readonly front: FrontContext;
  readonly lateAnswers: LateAnswers;
  readonly response: HttpResponse;
  readonly accepts: Accepts;
  /** Tells which scopes the caller lacks, in header lines; "" where it lacks none. */
  readonly stepUp: (error: GatewayError) => string;
};

export class ModernHttpOutlet implements ModernOutlet, Waiting, StreamOwner {
  readonly #options: ModernHttpOptions;
  #owner: OutletOwner | undefined;
  #stream: SseStream | undefined;
  #isOver = false;
  waitingSince = 0;
  before: Waiting | undefined = undefined;
  after: Waiting | undefined = undefined;

  constructor(options: ModernHttpOptions) {
    this.#options = options;
    options.response.onClose = () => this.left();
  }

  get isGone(): boolean {
    return this.#options.response.isOver;
  }

  get canStream(): boolean {
    return this.#options.accepts.sse;
  }

  get isOpen(): boolean {
    return this.#stream !== undefined;
  }

  bind(owner: OutletOwner): void {
    const { accepts, lateAnswers } = this.#options;
    this.#owner = owner;
    if (this.isGone) return owner.left();
    // An exchange without a word is cut by proxies; a stream has its keep-alives.
    lateAnswers.remove(this);
    if (accepts.sse && !this.#stream) lateAnswers.add(this);
  }

  openEarly(): void {
    if (!this.#isOver) this.#open().greet();
  }

  #open(): SseStream {
    this.#options.lateAnswers.remove(this);
    this.#stream ??= new SseStream(this.#options.response, this.#options.front.timers, this);
    return this.#stream;
  }

  /** A client that takes no streams hears nothing but the answer. */
  send(text: string): boolean {
    if (this.#isOver || !this.#options.accepts.sse) return true;
    return this.#open().send(text);
  }

  answer(text: string, status = 200, error?: GatewayError): void {
    if (!this.#take()) return;
    const { response, accepts, stepUp } = this.#options;
    if (this.#stream) return this.#stream.end(text);
    const lines = error === undefined ? "" : stepUp(error);
    if (lines !== "") return response.answer(403, JSON_LINE + lines, text);
    if (!accepts.json && status === 200) return this.#open().end(text);
    response.answer(status, JSON_LINE, text);
  }

  answerParts(head: string, body: Buffer, tail: string): void {
    const { response, accepts } = this.#options;
    if (this.#stream || !accepts.json) return this.answer(head + body.toString("latin1") + tail);
    if (this.#take()) response.answerParts(200, JSON_LINE, head, body, tail);
  }

  drop(): void {
    if (!this.#take()) return;
    if (this.#stream) this.#stream.end();
    else this.#options.response.answer(202, "", "");
  }

  /** Whether this is still to be answered; from now on it is not. */
  #take(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#options.lateAnswers.remove(this);
    return true;
  }

  drained(): void {
    if (!this.#isOver) this.#owner?.resume();
  }

  left(): void {
    if (this.#take()) this.#owner?.left();
  }
}
