/** One request in another process, and its answer on the way back to the client. */
import type { HopEnd, HttpResponse } from "../../contract/index.ts";
import type { HttpExchange, HttpFailure, HttpHandler, ResponseHead } from "../../providers/mcp/http/index.ts";
import { answerLines, REFUSED } from "./hop-lines.ts";

/** Up to here an answer of known length is handed over as a whole, as its home would. */
const WHOLE_BYTES = 64 * 1024;

// Invariants:
//  1. Until the head has come, the response is as we got it, but for the two listeners.
//  2. After `#settle` neither the response nor its listeners are touched.
export class Forwarding implements HttpHandler {
  readonly #response: HttpResponse;
  readonly #isHead: boolean;
  readonly #settle: (end: HopEnd) => void;
  #exchange: HttpExchange | undefined;
  /** The answer while it is kept to be handed over as a whole. */
  #whole: { readonly status: number; readonly lines: string; body: string } | undefined;
  #isStreaming = false;
  #isRefused = false;
  #isClientGone = false;
  #isSettled = false;

  constructor(response: HttpResponse, isHead: boolean, settle: (end: HopEnd) => void) {
    this.#response = response;
    this.#isHead = isHead;
    this.#settle = settle;
  }

  /** Nothing comes before this. */
  begin(exchange: HttpExchange): void {
    this.#exchange = exchange;
    this.#response.onDrain = () => exchange.resume();
    this.#response.onClose = () => {
      this.#isClientGone = true;
      exchange.abort();
    };
  }

  onHead(head: ResponseHead): void {
    if (head.header(REFUSED) !== undefined) {
      this.#isRefused = true;
      return;
    }
    const { status } = head;
    const lines = answerLines(head.text);
    const length = Number(head.header("content-length") ?? Number.NaN);
    const isBare = this.#isHead || status === 204 || status === 304;
    if (isBare || length <= WHOLE_BYTES) this.#whole = { status, lines, body: "" };
    else {
      this.#isStreaming = true;
      this.#response.open(status, lines);
    }
    if (!this.#isHead) return;
    // The length of an answer to HEAD is that of a body which does not come: this connection is not used again.
    this.onEnd();
    this.#exchange?.abort();
  }

  onData(text: string): void {
    if (this.#whole) this.#whole.body += text;
    else if (this.#isStreaming && !this.#response.write(text)) this.#exchange?.pause();
  }

  onEnd(): void {
    if (this.#isRefused) return this.#end({ type: "lost", wasSent: false });
    const { status, lines, body } = this.#whole ?? { status: 0, lines: "", body: "" };
    const isWhole = this.#whole !== undefined;
    this.#end({ type: "answered" }, () =>
      isWhole ? this.#response.answer(status, lines, body) : this.#response.end(),
    );
  }

  onError({ sent }: HttpFailure): void {
    if (this.#isClientGone) this.#end({ type: "answered" });
    else if (this.#isStreaming) this.#end({ type: "lost", wasSent: true }, () => this.#response.cut());
    else this.#end({ type: "lost", wasSent: sent && !this.#isRefused });
  }

  #end(end: HopEnd, finish: () => void = () => {}): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#response.onDrain = undefined;
    this.#response.onClose = undefined;
    finish();
    this.#settle(end);
  }
}
