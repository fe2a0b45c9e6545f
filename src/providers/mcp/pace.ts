/**
 * How often what a client says outside calls reaches its server: many times at once, and then once a second. What has to wait
 * is said once, in place of all that came before it.
 */
import type { Clock, Timers } from "../../contract/index.ts";

const AT_ONCE = 64;
const EVERY_MS = 1000;

export class Pace {
  readonly #clock: Clock;
  readonly #timers: Timers;
  #turns = AT_ONCE;
  #countedAt: number;
  #waiting: (() => void) | undefined;

  constructor({ clock, timers }: { readonly clock: Clock; readonly timers: Timers }) {
    this.#clock = clock;
    this.#timers = timers;
    this.#countedAt = clock.now();
  }

  /** Says it now, or when it is its turn. */
  take(say: () => void): void {
    const isWaiting = this.#waiting !== undefined;
    if (!isWaiting && this.#hasTurn()) return say();
    this.#waiting = say;
    if (!isWaiting) this.#timers.after(EVERY_MS, () => this.#next());
  }

  #hasTurn(): boolean {
    const now = this.#clock.now();
    this.#turns = Math.min(AT_ONCE, this.#turns + (now - this.#countedAt) / EVERY_MS);
    this.#countedAt = now;
    if (this.#turns < 1) return false;
    this.#turns--;
    return true;
  }

  #next(): void {
    const say = this.#waiting;
    this.#waiting = undefined;
    if (say) this.take(say);
  }
}
