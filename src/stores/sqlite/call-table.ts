/**
 * Calls in flight by their id. Not a Map, for the reason that is told in contract/flight-table.ts: with an insert and a
 * delete per call, the collector would find each call alive until the next full collection.
 *
 * Invariants:
 *  1. An item stands at the place of its hash, or after it with no free place in between.
 *  2. The table is at most half full, so that a free place is near.
 */
export class CallTable<T extends { readonly call: string }> {
  #items: (T | undefined)[] = new Array(32).fill(undefined);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Takes the place of one of the same id. */
  set(item: T): void {
    if (this.#size * 2 >= this.#items.length) this.#grow();
    const at = this.#find(item.call);
    if (this.#items[at] === undefined) this.#size++;
    this.#items[at] = item;
  }

  has(call: string): boolean {
    return this.#items[this.#find(call)] !== undefined;
  }

  /** False: it was not there. */
  delete(call: string): boolean {
    let free = this.#find(call);
    if (this.#items[free] === undefined) return false;
    this.#size--;
    // Those that stand after it only because it was there move up.
    const mask = this.#items.length - 1;
    for (let at = (free + 1) & mask; this.#items[at] !== undefined; at = (at + 1) & mask) {
      const home = this.#homeOf((this.#items[at] as T).call);
      if (((at - home) & mask) < ((at - free) & mask)) continue;
      this.#items[free] = this.#items[at];
      free = at;
    }
    this.#items[free] = undefined;
    return true;
  }

  clear(): void {
    if (this.#size > 0) this.#items.fill(undefined);
    this.#size = 0;
  }

  values(): T[] {
    return this.#items.filter((item) => item !== undefined);
  }

  /** Where it stands, or would. */
  #find(call: string): number {
    const mask = this.#items.length - 1;
    let at = this.#homeOf(call);
    for (let item = this.#items[at]; item !== undefined && item.call !== call; item = this.#items[at]) {
      at = (at + 1) & mask;
    }
    return at;
  }

  #homeOf(call: string): number {
    let hash = 0;
    for (let index = 0; index < call.length; index++) hash = (hash * 31 + call.charCodeAt(index)) | 0;
    return hash & (this.#items.length - 1);
  }

  #grow(): void {
    const items = this.values();
    this.#items = new Array(this.#items.length * 2).fill(undefined);
    for (const item of items) this.#items[this.#find(item.call)] = item;
  }
}
