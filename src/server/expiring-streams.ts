/** Streams may outlive what whoever opened them was known by: then they are cut, and their clients come back with something new. */
import type { HttpResponse, Timer, Timers } from "../contract/index.ts";

const LOOK_MS = 5_000;

// Invariants:
//  1. There is a timer exactly while there is something to look at.
export class ExpiringStreams {
  readonly #timers: Timers;
  /** Everybody's clock. */
  readonly #now: () => number;
  /** Until when each is good. */
  readonly #open = new Map<HttpResponse, number>();
  #timer: Timer | undefined;

  constructor(timers: Timers, now: () => number) {
    this.#timers = timers;
    this.#now = now;
  }

  /** An answer that is over soon costs no more than to be looked at once. */
  watch(response: HttpResponse, expiresAt: number): void {
    this.#open.set(response, expiresAt);
    this.#timer ??= this.#timers.after(LOOK_MS, () => this.#look());
  }

  close(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#open.clear();
  }

  #look(): void {
    const now = this.#now();
    for (const [response, expiresAt] of this.#open) {
      if (!response.isOver && now < expiresAt) continue;
      this.#open.delete(response);
      if (!response.isOver) response.cut();
    }
    this.#timer = this.#open.size > 0 ? this.#timers.after(LOOK_MS, () => this.#look()) : undefined;
  }
}
