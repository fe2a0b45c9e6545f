/**
 * What is shown of the inputs of approvals, made once: it never changes, and whoever has the link to a page, or repeats a call,
 * has it shown as often as they like. The bytes are bounded: what was asked for longest ago is made again.
 */
import type { Approval } from "../../contract/index.ts";
import { type Decided, decidedText } from "./decided-text.ts";

/** With all that was made of one: `made` by the names of what it was made for. */
type Shown = { readonly decided: Decided; readonly made: Map<string, string>; bytes: number };

const MAX_BYTES = 32 * 1024 * 1024;
const BYTES_OF_CHAR = 2;

export class ShownInputs {
  readonly #maxBytes: number;
  /** By the ids of approvals; the one that was asked for last is the last. */
  readonly #shown = new Map<string, Shown>();
  #bytes = 0;

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** `approval`: with its whole input. */
  of(approval: Approval): Decided {
    return this.#find(approval).decided;
  }

  /** The text that `make` makes of it for this use, here or when it was asked for before. */
  as(use: string, approval: Approval, make: (decided: Decided) => string): string {
    const shown = this.#find(approval);
    const known = shown.made.get(use);
    if (known !== undefined) return known;
    const text = make(shown.decided);
    shown.made.set(use, text);
    this.#grow(shown, text.length);
    return text;
  }

  /** It is over: only its digest is kept. */
  forget(id: string): void {
    this.#bytes -= this.#shown.get(id)?.bytes ?? 0;
    this.#shown.delete(id);
  }

  #find(approval: Approval): Shown {
    const { id } = approval;
    const shown = this.#shown.get(id) ?? { decided: decidedText(approval), made: new Map(), bytes: 0 };
    const isNew = !this.#shown.delete(id);
    this.#shown.set(id, shown);
    const { given, also = "" } = shown.decided;
    if (isNew) this.#grow(shown, given.length + also.length);
    return shown;
  }

  /** The one that grows is there all the same, however long it is. */
  #grow(shown: Shown, characters: number): void {
    shown.bytes += characters * BYTES_OF_CHAR;
    this.#bytes += characters * BYTES_OF_CHAR;
    for (const [id, oldest] of this.#shown) {
      if (this.#bytes <= this.#maxBytes || oldest === shown) return;
      this.forget(id);
    }
  }
}
