/** Keeps whoever is refused again and again from filling the trail, without hiding what others do meanwhile. */
import type { Clock } from "../../contract/index.ts";

/** So many at once of one kind from one place, and one more with each pause. */
const BURST = 50;
const PAUSE_MS = 1_000;
/** And of all kinds from everywhere: addresses are cheap. */
const ALL_BURST = 200;
const ALL_PAUSE_MS = 50;
/** Kinds and places that are known; the one that was not heard of for longest is forgotten. */
const MAX_KEYS = 1_000;

export class NoteBudget {
  readonly #clock: Clock;
  readonly #each: { readonly burst: number; readonly pauseMs: number };
  readonly #all: Allowance;
  readonly #keys = new Map<string, { readonly allowance: Allowance; skipped: number }>();
  /** Of those that were forgotten. */
  #skipped = 0;

  /** `each`: how many of one kind from one place there may be at once, and after what pause one more. */
  constructor(clock: Clock, each = { burst: BURST, pauseMs: PAUSE_MS }) {
    this.#clock = clock;
    this.#each = each;
    this.#all = new Allowance(ALL_BURST, ALL_PAUSE_MS, clock.now());
  }

  /** How many were left out since the last one that was noted; undefined: this one is left out as well. */
  take(key: string): number | undefined {
    const now = this.#clock.now();
    const { burst, pauseMs } = this.#each;
    const known = this.#keys.get(key) ?? { allowance: new Allowance(burst, pauseMs, now), skipped: 0 };
    this.#keys.delete(key);
    this.#keys.set(key, known);
    if (this.#keys.size > MAX_KEYS) this.#forgetOldest();
    if (!known.allowance.has(now) || !this.#all.has(now)) {
      known.skipped++;
      return undefined;
    }
    known.allowance.take();
    this.#all.take();
    const skipped = known.skipped + this.#skipped;
    known.skipped = 0;
    this.#skipped = 0;
    return skipped;
  }

  #forgetOldest(): void {
    const [oldest] = this.#keys;
    if (!oldest) return;
    this.#skipped += oldest[1].skipped;
    this.#keys.delete(oldest[0]);
  }
}

class Allowance {
  readonly #burst: number;
  readonly #pauseMs: number;
  #left: number;
  #filledAt: number;

  constructor(burst: number, pauseMs: number, now: number) {
    this.#burst = burst;
    this.#pauseMs = pauseMs;
    this.#left = burst;
    this.#filledAt = now;
  }

  has(now: number): boolean {
    const filled = Math.floor((now - this.#filledAt) / this.#pauseMs);
    if (filled > 0) {
      this.#filledAt += filled * this.#pauseMs;
      this.#left = Math.min(this.#burst, this.#left + filled);
    }
    return this.#left > 0;
  }

  take(): void {
    this.#left--;
  }
}
