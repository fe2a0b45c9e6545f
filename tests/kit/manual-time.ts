import type { Clock, Timer, Timers } from "../../src/contract/index.ts";

type Set = { due: number; order: number; fire: () => void };

/** A clock that stands still until it is told to move; timers fire in order on the way. */
export class ManualTime implements Clock, Timers {
  #now = 1_000;
  #order = 0;
  readonly #set = new Set<Set>();

  now(): number {
    return this.#now;
  }

  /** How many timers are set: a test that leaves one has a leak. */
  get pending(): number {
    return this.#set.size;
  }

  after(ms: number, fire: () => void): Timer {
    const set: Set = { due: this.#now + ms, order: this.#order++, fire };
    this.#set.add(set);
    return { cancel: () => void this.#set.delete(set) };
  }

  advance(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      const due = [...this.#set].filter((set) => set.due <= until).sort((a, b) => a.due - b.due || a.order - b.order);
      const [next] = due;
      if (!next) break;
      this.#set.delete(next);
      this.#now = Math.max(this.#now, next.due);
      next.fire();
    }
    this.#now = until;
  }
}
