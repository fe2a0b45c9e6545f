/**
 * The last head of a connection. Clients send the same head again and again, with at most another length: then nothing
 * of it has to be read again. A text that matches is the known head but for the digits of its length, hence as valid.
 */
import type { RequestHead } from "./request-head.ts";

const NINE = 9;
const MAX_DIGITS = 15;

export class KnownHead {
  readonly head: RequestHead;
  readonly #before: string;
  /** From the length's end on; "" when the head has no length. */
  readonly #after: string;
  /** The length that the last match found. */
  length = 0;

  constructor(text: string, head: RequestHead) {
    this.head = head;
    const hasLength = head.lengthEnd > 0;
    this.#before = hasLength ? text.slice(0, head.lengthStart) : text;
    this.#after = hasLength ? text.slice(head.lengthEnd) : "";
    if (head.framing !== "chunked") this.length = head.framing;
  }

  /** Where the head that begins at `at` ends, if it is this one; otherwise -1. */
  match(text: string, at: number): number {
    let end = at + this.#before.length;
    // Slices compared as a whole: half the cost of startsWith, measured.
    if (text.slice(at, end) !== this.#before) return -1;
    if (this.#after === "") return end;
    const start = end;
    let length = 0;
    for (let digit = text.charCodeAt(end) - 48; digit >= 0 && digit <= NINE; digit = text.charCodeAt(end) - 48) {
      length = length * 10 + digit;
      if (++end - start > MAX_DIGITS) return -1;
    }
    if (end === start || text.slice(end, end + this.#after.length) !== this.#after) return -1;
    this.length = length;
    return end + this.#after.length;
  }
}
