import type { Clock } from "../../contract/index.ts";

type Kept<T> = { value: T; expiresAt: number };

const SWEEP_EVERY_MS = 60_000;

/** A map whose values end by themselves. Needs no timer: what has ended is not seen, and goes when others come. */
export class ExpiringMap<T> {
  readonly #clock: Clock;
  readonly #kept = new Map<string, Kept<T>>();
  #sweepAt: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#sweepAt = clock.now() + SWEEP_EVERY_MS;
  }

  /** With what has ended and was not swept yet. */
  get size(): number {
    return this.#kept.size;
  }

  get(key: string): T | undefined {
    const kept = this.#kept.get(key);
    return kept !== undefined && kept.expiresAt > this.#clock.now() ? kept.value : undefined;
  }

  set(key: string, value: T, ttlMs: number): void {
    const now = this.#clock.now();
    if (now >= this.#sweepAt) this.#sweep(now);
    this.#kept.set(key, { value, expiresAt: now + ttlMs });
  }

  /** Only what it is; it ends when it would have. */
  replace(key: string, value: T): void {
    const kept = this.#kept.get(key);
    if (kept !== undefined) kept.value = value;
  }

  delete(key: string): void {
    this.#kept.delete(key);
  }

  entries(): [string, T][] {
    const now = this.#clock.now();
    return [...this.#kept].filter(([, kept]) => kept.expiresAt > now).map(([key, { value }]) => [key, value]);
  }

  #sweep(now: number): void {
    this.#sweepAt = now + SWEEP_EVERY_MS;
    for (const [key, kept] of this.#kept) if (kept.expiresAt <= now) this.#kept.delete(key);
  }
}
