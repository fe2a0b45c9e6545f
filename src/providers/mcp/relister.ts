import type { Clock, Effort, ListedKind, Timers } from "../../contract/index.ts";

export type RelisterOptions = {
  readonly clock: Clock;
  readonly timers: Timers;
  /** Reports its own failures and never rejects. `effort`: what it takes is added to it. */
  list(kinds: readonly ListedKind[], effort: Effort): Promise<void>;
};

/** A server may keep us busy with its lists for one part in so many of the time. */
const PACE = 20;
const MAX_PAUSE_MS = 60_000;
/** Not worth a timer. */
const MIN_PAUSE_MS = 50;

/**
 * Lists again when told, one listing at a time: what is asked for while one runs is done together after it. After a listing
 * that took long the next one waits accordingly, so that a server whose lists are long, and that says all the time that they
 * have changed, does not keep the process from everything else.
 */
export class Relister {
  readonly #options: RelisterOptions;
  readonly #wanted = new Set<ListedKind>();
  #running: Promise<void> | undefined;
  #notBefore = 0;
  #endPause: (() => void) | undefined;

  constructor(options: RelisterOptions) {
    this.#options = options;
  }

  get isListing(): boolean {
    return this.#running !== undefined;
  }

  /** Resolves when these have been listed. */
  want(kinds: readonly ListedKind[]): Promise<void> {
    for (const kind of kinds) this.#wanted.add(kind);
    this.#running ??= this.#work();
    return this.#running;
  }

  /** There is another session: nothing has been read of it yet, so it is not waited for. */
  hurry(): void {
    this.#notBefore = 0;
    this.#endPause?.();
  }

  async #work(): Promise<void> {
    const { clock, list } = this.#options;
    while (this.#wanted.size > 0) {
      // Servers that register tools one by one announce each of them: the rest of this turn belongs to one listing.
      await Promise.resolve();
      await this.#pause(this.#notBefore - clock.now());
      const kinds = [...this.#wanted];
      this.#wanted.clear();
      const effort: Effort = { ms: 0 };
      await list(kinds, effort);
      this.#notBefore = clock.now() + Math.min(effort.ms * PACE, MAX_PAUSE_MS);
    }
    this.#running = undefined;
  }

  async #pause(ms: number): Promise<void> {
    if (ms < MIN_PAUSE_MS) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = this.#options.timers.after(ms, resolve);
    this.#endPause = resolve;
    await promise;
    timer.cancel();
    this.#endPause = undefined;
  }
}
