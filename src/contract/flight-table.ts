/**
 * Things in flight, each under a number of its own. Numbers count up and are never given out again.
 *
 * Not a Map on purpose: a Map that sees an insert and a delete per call is rehashed all the time, and V8 links each dead
 * table to the next one. As soon as one of them is promoted, every object that passed through the Map survives until
 * the next full collection: measured as a third of the CPU time of a call.
 *
 * Invariants:
 *  1. An item with key `k` stands at `k & #mask`, and nowhere else.
 *  2. The table is at most half full, so that a free place for the next key is near.
 */
export class FlightTable<T> {
  #items: (T | undefined)[] = new Array(16).fill(undefined);
  #keys: number[] = new Array(16).fill(-1);
  #mask = 15;
  #next: number;
  #size = 0;

  /** `first`: the key to begin with, below 2^53. */
  constructor(first = 1) {
    this.#next = first;
  }

  get size(): number {
    return this.#size;
  }

  /** Its key. Nothing late can be taken for something new, because keys are used once. */
  add(item: T): number {
    if (this.#size * 2 > this.#mask) this.#grow();
    let key = this.#next;
    while (this.#items[key & this.#mask] !== undefined) key++;
    this.#items[key & this.#mask] = item;
    this.#keys[key & this.#mask] = key;
    this.#next = key + 1;
    this.#size++;
    return key;
  }

  get(key: number): T | undefined {
    const at = key & this.#mask;
    return this.#keys[at] === key ? this.#items[at] : undefined;
  }

  /** The item that was there. */
  delete(key: number): T | undefined {
    const item = this.get(key);
    if (item === undefined) return undefined;
    this.#items[key & this.#mask] = undefined;
    this.#keys[key & this.#mask] = -1;
    this.#size--;
    return item;
  }

  values(): T[] {
    return this.#items.filter((item) => item !== undefined);
  }

  #grow(): void {
    const items = this.#items;
    const keys = this.#keys;
    this.#mask = this.#mask * 2 + 1;
    this.#items = new Array(this.#mask + 1).fill(undefined);
    this.#keys = new Array(this.#mask + 1).fill(-1);
    for (const [at, item] of items.entries()) {
      if (item === undefined) continue;
      // Keys that stood apart stand apart in a table twice as large.
      const key = keys[at] as number;
      this.#items[key & this.#mask] = item;
      this.#keys[key & this.#mask] = key;
    }
  }
}
