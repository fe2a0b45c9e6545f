/** One request and its answer. Lives for that long only: afterwards it lets go of the connection and does nothing. */
import {
  type BodyTaker,
  type HeldMessage,
  type HttpPeer,
  type HttpRequest,
  type HttpResponse,
  LOCAL,
  type Principal,
} from "../../contract/index.ts";
import { CHUNKED, CLOSE, chunkOf, KEEP_ALIVE, LAST_CHUNK, statusLine } from "./answer-text.ts";
import type { RequestHead } from "./request-head.ts";

/** What an exchange needs of its connection. */
export interface ExchangeOwner {
  readonly dateLine: string;
  readonly peer: HttpPeer;
  clientAddress(headers: RequestHead["headers"]): string | undefined;
  readBody(maxBytes: number, taker: BodyTaker): void;
  discardBody(): void;
  /** Whether the connection stays open after the answer that begins now, which it can only if the end can be seen. */
  settleKeeping(hasVisibleEnd: boolean): boolean;
  send(text: string): boolean;
  sendParts(head: string, body: Buffer, tail: string): void;
  /** The answer is out. */
  finish(): void;
  /** There will be no answer, or no more of it. */
  destroy(): void;
}

/** Up to here one write of joined text is cheaper than a gathered one. */
const JOINED_BYTES = 16 * 1024;

export class Exchange implements HttpRequest, HttpResponse {
  onDrain: (() => void) | undefined = undefined;
  onClose: (() => void) | undefined = undefined;
  /** Set by whoever found out. */
  principal: Principal = LOCAL;
  /** Header lines that the answer has, whoever gives it. */
  extraLines = "";
  #held: HeldMessage | undefined;
  readonly #head: RequestHead;
  #owner: ExchangeOwner | undefined;
  #isOpen = false;
  /** The head of a stream until its first write. */
  #unsent = "";

  constructor(owner: ExchangeOwner, head: RequestHead) {
    this.#owner = owner;
    this.#head = head;
  }

  get method(): string {
    return this.#head.method;
  }

  get url(): string {
    return this.#head.url;
  }

  get headers(): RequestHead["headers"] {
    return this.#head.headers;
  }

  get peer(): HttpPeer | undefined {
    return this.#owner?.peer;
  }

  get clientAddress(): string | undefined {
    return this.#owner?.clientAddress(this.#head.headers);
  }

  get isOver(): boolean {
    return this.#owner === undefined;
  }

  get held(): HeldMessage | undefined {
    return this.#held;
  }

  /** Its body is here: the exchange holds it until its end. */
  hold(message: HeldMessage): void {
    this.#held = message.hold();
  }

  forgetBody(): void {
    this.#held?.letGo();
    this.#held = undefined;
  }

  #letGo(): void {
    this.#owner = undefined;
    this.forgetBody();
  }

  /** The answer has no known length and has begun. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  body(maxBytes: number, taker: BodyTaker): void {
    this.#owner?.readBody(maxBytes, taker);
  }

  discard(): void {
    this.#owner?.discardBody();
  }

  answer(status: number, lines: string, body: string): void {
    const owner = this.#takeOwner();
    if (!owner) return;
    const head = this.#wholeHead(owner, status, lines, body.length);
    owner.send(this.#hasNoBody(status) ? head : head + body);
    owner.finish();
  }

  answerParts(status: number, lines: string, head: string, body: Buffer, tail: string): void {
    if (body.length <= JOINED_BYTES || this.#hasNoBody(status))
      return this.answer(status, lines, head + body.toString("latin1") + tail);
    const owner = this.#takeOwner();
    if (!owner) return;
    const length = head.length + body.length + tail.length;
    owner.sendParts(this.#wholeHead(owner, status, lines, length) + head, body, tail);
    owner.finish();
  }

  open(status: number, lines: string): void {
    const owner = this.#owner;
    if (!owner) return;
    if (this.#isOpen) throw new Error("the answer has begun already");
    this.#isOpen = true;
    const framing = this.#head.isOld ? "" : CHUNKED;
    const head = `${statusLine(status)}${owner.dateLine}${this.#keeping(owner)}`;
    this.#unsent = `${head}${framing}${lines}${this.extraLines}\r\n`;
  }

  write(text: string): boolean {
    const owner = this.#owner;
    if (!owner || text === "") return true; // an empty chunk would be the last one
    if (!this.#isOpen) throw new Error("the answer has not begun");
    const framed = this.#takeUnsent() + this.#framed(text);
    return framed === "" || owner.send(framed);
  }

  end(text = ""): void {
    if (!this.#isOpen) {
      if (this.#owner) throw new Error("the answer has not begun");
      return;
    }
    const owner = this.#owner;
    if (!owner) return;
    this.#letGo();
    const last = this.#takeUnsent() + this.#framed(text) + (this.#isBare() ? "" : LAST_CHUNK);
    if (last !== "") owner.send(last);
    owner.finish();
  }

  cut(): void {
    const owner = this.#owner;
    this.#letGo();
    owner?.destroy();
  }

  /** The client is gone, or is sent away without this answer. */
  leave(): void {
    if (this.#owner === undefined) return;
    this.#letGo();
    this.#unsent = "";
    this.onClose?.();
  }

  #takeOwner(): ExchangeOwner | undefined {
    if (this.#isOpen && this.#owner) throw new Error("the answer has begun already");
    const owner = this.#owner;
    this.#letGo();
    return owner;
  }

  #wholeHead(owner: ExchangeOwner, status: number, lines: string, length: number): string {
    const head = `${statusLine(status)}${owner.dateLine}${this.#keeping(owner)}${lines}${this.extraLines}`;
    return status === 204 || status === 304 ? `${head}\r\n` : `${head}Content-Length: ${length}\r\n\r\n`;
  }

  /** Towards 1.0 a stream has no end but that of the connection. */
  #keeping(owner: ExchangeOwner): string {
    if (!owner.settleKeeping(!(this.#head.isOld && this.#isOpen))) return CLOSE;
    return this.#head.isOld ? KEEP_ALIVE : "";
  }

  #takeUnsent(): string {
    const unsent = this.#unsent;
    this.#unsent = "";
    return unsent;
  }

  #framed(text: string): string {
    if (text === "" || this.#head.method === "HEAD") return "";
    return this.#head.isOld ? text : chunkOf(text);
  }

  #isBare(): boolean {
    return this.#head.isOld || this.#head.method === "HEAD";
  }

  #hasNoBody(status: number): boolean {
    return status === 204 || status === 304 || this.#head.method === "HEAD";
  }
}
