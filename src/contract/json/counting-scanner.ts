import { Scanner } from "./scanner.ts";

/** For whoever does something for each key and item: no more of them than there is time for, at all depths together. */
export class CountingScanner extends Scanner {
  #keysLeft: number;
  #itemsLeft: number;

  constructor(text: string, maxKeys: number, maxItems: number) {
    super(text);
    this.#keysLeft = maxKeys;
    this.#itemsLeft = maxItems;
  }

  countKey(): void {
    if (this.#keysLeft-- <= 0) this.fail("members", "too many keys");
  }

  /** Of a list. */
  countItem(): void {
    if (this.#itemsLeft-- <= 0) this.fail("members", "too many items in lists");
  }
}
