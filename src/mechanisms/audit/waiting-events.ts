/**
 * The events that wait for the store, and what they hold. What many have in common is held once, and counted once, however many
 * copies of it came.
 *
 * Invariants:
 *  1. `#shared` has each template and filler of `#entries`, with how often it is there; it is the very text that they hold.
 *  2. `#size` is the length of all lines and of each text in `#shared`.
 */
import type { Entry } from "./block.ts";

type Shared = { readonly text: string; uses: number };

export class WaitingEvents {
  readonly #shared = new Map<string, Shared>();
  readonly #entries: Entry[] = [];
  #size = 0;

  get list(): readonly Entry[] {
    return this.#entries;
  }

  get count(): number {
    return this.#entries.length;
  }

  /** In characters. */
  get size(): number {
    return this.#size;
  }

  add(entries: readonly Entry[]): void {
    for (const entry of entries) {
      const { line, template, filler, at, trace, terms } = entry;
      this.#size += line.length;
      if (template === undefined) this.#entries.push(entry);
      else
        this.#entries.push({
          line,
          template: this.#hold(template),
          filler: this.#hold(filler ?? ""),
          at,
          trace,
          terms,
        });
    }
  }

  /** The first ones: the store has them. */
  drop(count: number): void {
    this.#letGo(this.#entries.splice(0, count));
  }

  /** The last ones, which were added in vain. */
  takeBack(count: number): void {
    this.#letGo(this.#entries.splice(-count, count));
  }

  #hold(text: string): string {
    const known = this.#shared.get(text);
    if (known) {
      known.uses++;
      return known.text;
    }
    this.#shared.set(text, { text, uses: 1 });
    this.#size += text.length;
    return text;
  }

  #letGo(entries: readonly Entry[]): void {
    for (const { line, template, filler } of entries) {
      this.#size -= line.length;
      if (template === undefined) continue;
      this.#release(template);
      this.#release(filler ?? "");
    }
  }

  #release(text: string): void {
    const known = this.#shared.get(text);
    if (!known) return;
    known.uses--;
    if (known.uses > 0) return;
    this.#shared.delete(text);
    this.#size -= text.length;
  }
}
