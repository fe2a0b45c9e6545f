/**
 * Keeps calls away from a provider that does not answer: they fail at once instead of waiting each for itself. After a
 * pause one call is let through as a probe; whatever the provider says on it lets everybody in again.
 *
 * Invariants:
 *  1. `strain` is 0 exactly when the last thing that is known of the provider is good.
 *  2. While it is open at most one call, the probe, is on its way because of us.
 */
import { type ErrorCode, GatewayError } from "../contract/index.ts";

/** How much a failure says about the provider: five that were lost, or ten that took too long, open the breaker. */
const WEIGHTS: Readonly<Partial<Record<ErrorCode, number>>> = {
  PROVIDER_UNREACHABLE: 2,
  OUTCOME_UNKNOWN: 2,
  DEADLINE_PASSED: 1,
};
/** An answer that cannot be used says something about the provider only when it is known to be down. */
const DEAD_WEIGHT = 2;
const LIMIT = 10;
const MIN_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;

export type BreakerOptions = {
  readonly isEnabled: boolean;
  /** The provider is known to be down. */
  readonly isDown: () => boolean;
  readonly random?: () => number;
};

export type BreakerEvents = {
  readonly onOpen: (fact: { readonly failures: number; readonly pauseMs: number }) => void;
  readonly onClose: () => void;
};

export class Breaker {
  /** Of failures in a row. 0: nothing is wrong, and nothing else here needs to be looked at. */
  strain = 0;
  isEnabled: boolean;
  /** Set by whoever keeps the record. */
  events: BreakerEvents | undefined;
  readonly #isDown: () => boolean;
  readonly #random: () => number;
  #failures = 0;
  #openings = 0;
  #shutUntil = 0;
  #probe: object | undefined;

  constructor({ isEnabled, isDown, random = Math.random }: BreakerOptions) {
    this.isEnabled = isEnabled;
    this.#isDown = isDown;
    this.#random = random;
  }

  get isOpen(): boolean {
    return this.strain >= LIMIT && this.isEnabled;
  }

  /** Why the call may not pass now; undefined: it may, when it is open as the probe. Asked only under strain. */
  refuse(call: object, now: number): GatewayError | undefined {
    if (!this.isOpen || this.#probe === call) return undefined;
    if (!this.#probe && now >= this.#shutUntil) {
      this.#probe = call;
      return undefined;
    }
    const retryAfterMs = Math.ceil(Math.max(this.#shutUntil - now, MIN_PAUSE_MS));
    const seconds = Math.ceil(retryAfterMs / 1000);
    const message = `The server failed ${this.#failures} calls in a row; it is tried again in ${seconds} s.`;
    return new GatewayError("PROVIDER_UNREACHABLE", { message, details: { retryAfterMs } });
  }

  /** The provider said something, if only that it could not do what was asked. */
  heard(): void {
    const wasOpen = this.isOpen;
    this.strain = 0;
    this.#failures = 0;
    this.#openings = 0;
    this.#probe = undefined;
    if (wasOpen) this.events?.onClose();
  }

  /** A call ended by an error of ours. */
  failed(call: object, code: ErrorCode, now: number): void {
    const weight = code === "PROVIDER_FAILED" && this.#isDown() ? DEAD_WEIGHT : WEIGHTS[code];
    const wasProbe = this.#probe === call;
    if (wasProbe) this.#probe = undefined;
    // Cancelled, say: that tells nothing, and the next call is the probe.
    if (weight === undefined || !this.isEnabled) return;
    const wasOpen = this.isOpen;
    this.#failures++;
    this.strain = Math.min(this.strain + weight, LIMIT);
    if (wasOpen ? wasProbe : this.isOpen) this.#open(now);
  }

  #open(now: number): void {
    const pauseMs = Math.min(MIN_PAUSE_MS * 2 ** this.#openings, MAX_PAUSE_MS) * (0.75 + this.#random() / 2);
    this.#openings = Math.min(this.#openings + 1, 16);
    this.#shutUntil = now + pauseMs;
    this.events?.onOpen({ failures: this.#failures, pauseMs: Math.round(pauseMs) });
  }

  /** The provider is said to be well again: the next call finds out. */
  hurry(): void {
    this.#shutUntil = 0;
  }
}
