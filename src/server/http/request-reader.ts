/**
 * Takes requests off the text of one connection, one at a time: the next head is looked at when the owner says so. Of what has come
 * at once, that is one request in a turn: what a client sends without waiting for answers is dealt with while others have theirs.
 * Throws RequestFault where the bytes cannot be understood in one way only; nothing must be read after that.
 */
import type { BodyTaker } from "../../contract/index.ts";
import { KnownHead } from "./known-head.ts";
import { RequestBody } from "./request-body.ts";
import { RequestFault } from "./request-fault.ts";
import { MAX_HEAD_BYTES, parseRequestHead, type RequestHead } from "./request-head.ts";

// Invariants:
//  1. `#text` from `#at` on is what has come and belongs to nobody yet.
//  2. A head is read only when the reader is not busy and the body before it is whole.
//  3. `#body` is set only while `#hasRest`; `#taker` only while `#body`.
//  4. No head is read while `#isSpent`, which is over with `renewTurn`, or when all that has come is dealt with.
export class RequestReader {
  readonly #onHead: (head: RequestHead) => void;
  readonly #onLateBody: (taker: BodyTaker, text: string) => void;
  #text = "";
  #at = 0;
  #known: KnownHead | undefined;
  #body: RequestBody | undefined;
  #taker: BodyTaker | undefined;
  #maxBytes = 0;
  #hasRest = false;
  #isBusy = false;
  #isPumping = false;
  #isTooLarge = false;
  #isSpent = false;

  /**
   * From `onHead` on the reader is busy with that request, until `next`. `onLateBody` gives the taker a body that was not
   * here as a whole when it was asked for.
   */
  constructor(onHead: (head: RequestHead) => void, onLateBody: (taker: BodyTaker, text: string) => void) {
    this.#onHead = onHead;
    this.#onLateBody = onLateBody;
  }

  /** Between two requests, with nothing of the next one here. */
  get isIdle(): boolean {
    return !this.#isBusy && !this.#hasRest && this.#text === "";
  }

  get isInHead(): boolean {
    return !this.#isBusy && !this.#hasRest && !this.#isSpent && this.#text !== "";
  }

  /** What has come behind a request waits for the next turn of this connection. */
  get isWaiting(): boolean {
    return this.#isSpent && !this.#isBusy && !this.#hasRest && this.#at < this.#text.length;
  }

  /** A body was asked for, or is skipped, and is not whole yet. */
  get isInBody(): boolean {
    return this.#body !== undefined;
  }

  /** The present request has a body that was not taken as a whole yet. */
  get hasRest(): boolean {
    return this.#hasRest;
  }

  /** The present body was larger than its taker allowed. */
  get isTooLarge(): boolean {
    return this.#isTooLarge;
  }

  /** How much has come that nobody has asked for. */
  get ahead(): number {
    return this.#text.length - this.#at;
  }

  /** How much of it all is in memory. */
  get heldBytes(): number {
    return this.ahead + (this.#body?.keptBytes ?? 0);
  }

  /** What the present body was said to have; 0: nobody knows, or there is none. */
  get bodyLength(): number {
    const { length } = this.#known as KnownHead;
    return this.#hasRest ? length : 0;
  }

  /** The whole of the present body is here, and nobody has asked for it yet. */
  get hasWholeBody(): boolean {
    return this.#body === undefined && this.bodyLength > 0 && this.bodyLength <= this.ahead;
  }

  /** Not all of the present body is here. */
  get lacksBody(): boolean {
    return this.#hasRest && !this.hasWholeBody;
  }

  /** How much of the present body has come. */
  get bodyBytes(): number {
    return this.#body?.bytes ?? 0;
  }

  /** How much of the present body was thrown away. */
  get skipped(): number {
    return this.#body?.isDropped ? this.#body.bytes : 0;
  }

  /** What is known to be still to come of the present body. */
  get missing(): number {
    const { head, length } = this.#known as KnownHead;
    if (!this.#hasRest || head.framing === "chunked") return 0;
    return length - (this.#body?.bytes ?? this.ahead);
  }

  add(text: string): void {
    this.#text = this.#text === "" ? text : this.#text.slice(this.#at) + text;
    this.#at = 0;
  }

  /** The next head waits for the next turn, unless nothing is here when all else is done. */
  spendTurn(): void {
    this.#isSpent = true;
  }

  renewTurn(): void {
    this.#isSpent = false;
  }

  /** Does all that can be done with what is here in this turn. Called from inside itself it leaves that to the outer call: false. */
  pump(): boolean {
    if (this.#isPumping) return false;
    this.#isPumping = true;
    try {
      while (this.#at < this.#text.length && this.#step()) {}
    } finally {
      this.#isPumping = false;
      if (this.#at === this.#text.length) this.#clear();
    }
    return true;
  }

  /** The request is answered: what is left of its body is skipped, and the next one may come. */
  next(): void {
    this.#isBusy = false;
    if (this.#hasRest) this.skipBody();
  }

  /** Tells the taker at once if the body is here or too large. True: it will be told by `pump`. */
  readBody(maxBytes: number, taker: BodyTaker): boolean {
    if (!this.#hasRest) {
      taker.onBody("");
      return false;
    }
    const { head, length } = this.#known as KnownHead;
    const isChunked = head.framing === "chunked";
    const end = this.#at + length;
    if (!isChunked && length > maxBytes) this.#refuseBody(taker);
    else if (!isChunked && end <= this.#text.length) {
      const text = this.#text.slice(this.#at, end);
      this.#at = end;
      this.#hasRest = false;
      taker.onBody(text);
    } else {
      this.#taker = taker;
      this.#maxBytes = maxBytes;
      this.#body = new RequestBody(isChunked ? "chunked" : length, false);
      return true;
    }
    return false;
  }

  skipBody(): void {
    if (!this.#hasRest) return;
    const { head, length } = this.#known as KnownHead;
    this.#taker = undefined;
    this.#body ??= new RequestBody(head.framing === "chunked" ? "chunked" : length, true);
    this.#body.drop();
  }

  #refuseBody(taker: BodyTaker): void {
    this.#isTooLarge = true;
    this.skipBody();
    taker.onTooLarge();
  }

  /** Forgets what is here. Nothing must be added after it. */
  stop(): void {
    this.#clear();
    this.#body = undefined;
    this.#taker = undefined;
  }

  #clear(): void {
    this.#text = "";
    this.#at = 0;
    this.#isSpent = false;
  }

  /** False: nothing more to do with what is here for now. */
  #step(): boolean {
    if (this.#body) return this.#takeBody(this.#body);
    return !this.#isBusy && !this.#hasRest && !this.#isSpent && this.#takeHead();
  }

  #takeHead(): boolean {
    let end = this.#known?.match(this.#text, this.#at) ?? -1;
    if (end < 0) end = this.#parseHead();
    const known = this.#known;
    if (end < 0 || !known) return false;
    this.#at = end;
    this.#hasRest = known.length > 0 || known.head.framing === "chunked";
    this.#isBusy = true;
    this.#isSpent = true;
    this.#isTooLarge = false;
    this.#onHead(known.head);
    return true;
  }

  /** Where the head ends; -1 when it is not whole yet. */
  #parseHead(): number {
    const found = this.#text.indexOf("\r\n\r\n", this.#at);
    const end = found < 0 ? this.#text.length : found + 4;
    if (end - this.#at > MAX_HEAD_BYTES) throw new RequestFault(431, `the head is larger than ${MAX_HEAD_BYTES} bytes`);
    if (found < 0) {
      refuseEarly(this.#text.slice(this.#at));
      return -1;
    }
    // A copy: a slice would keep everything alive that was read together with it.
    const text = Buffer.from(this.#text.slice(this.#at, end), "latin1").toString("latin1");
    this.#known = new KnownHead(text, parseRequestHead(text));
    return end;
  }

  #takeBody(body: RequestBody): boolean {
    const before = this.#at;
    this.#at = body.take(this.#text, this.#at);
    const taker = this.#taker;
    if (taker && body.bytes > this.#maxBytes) this.#refuseBody(taker);
    else if (body.isDone) {
      this.#body = undefined;
      this.#taker = undefined;
      this.#hasRest = false;
      if (taker) {
        this.#isSpent = true;
        this.#onLateBody(taker, body.text);
      }
    }
    return this.#at > before;
  }
}

/** Whoever does not speak HTTP is not waited for. */
function refuseEarly(start: string): void {
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]/.test(start)) throw new RequestFault(400, "this is not HTTP");
  if (/(?<!\r)\n|\r(?!\n|$)/.test(start)) throw new RequestFault(400, "a line does not end with CR LF");
}
