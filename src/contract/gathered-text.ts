import { copyText } from "./json/text.ts";

/** So many pieces are joined as they are: a joined text costs 32 bytes per piece, and each may keep the read it was cut from. */
const MAX_PIECES = 64;
/** Longer ones, on average, keep little beside themselves, and are not worth a copy. */
const LONG_PIECE = 16 * 1024;

/**
 * Text of bytes that comes in pieces, as its sender cuts it. What is kept of it takes little more than its bytes, also where they
 * come one by one, and each byte is copied at most once.
 */
export class GatheredText {
  #done = "";
  #last = "";
  #pieces = 0;

  get length(): number {
    return this.#done.length + this.#last.length;
  }

  get text(): string {
    return this.#done + this.#last;
  }

  add(piece: string): this {
    this.#last += piece;
    if (++this.#pieces >= MAX_PIECES) this.#melt();
    return this;
  }

  #melt(): void {
    this.#done += this.#last.length < MAX_PIECES * LONG_PIECE ? copyText(this.#last) : this.#last;
    this.#last = "";
    this.#pieces = 0;
  }

  /** All that came; it begins anew. */
  take(): string {
    const { text } = this;
    this.#done = "";
    this.#last = "";
    this.#pieces = 0;
    return text;
  }
}
