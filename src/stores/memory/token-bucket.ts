import type { Debit } from "../../contract/index.ts";

/**
 * What was taken out of a bucket and has not come back. In units of which a token has `periodMs` and of which `refill` come
 * back in each ms: all are whole numbers, so that a token is there in the very ms in which it is due.
 */
export class TokenBucket {
  #taken = 0;
  #at = 0;
  /** When it is forgotten. */
  endsAt = 0;
  /** When it was last put behind all others. */
  movedAt = 0;

  /** Until the amount is there, in ms; 0: it is there. Undefined: it never will be. */
  waitMs(debit: Debit, now: number): number | undefined {
    const missing = this.#takenAt(debit, now) + unitsOf(debit) - debit.capacity * debit.periodMs;
    if (missing <= 0) return 0;
    return debit.refill === 0 ? undefined : Math.ceil(missing / debit.refill);
  }

  take(debit: Debit, now: number): void {
    this.#taken = this.#takenAt(debit, now) + unitsOf(debit);
    this.#at = now;
    this.endsAt = now + debit.ttlMs;
  }

  /** A clock that was set back gives nothing, and takes nothing away. */
  #takenAt({ refill }: Debit, now: number): number {
    const elapsed = Math.max(0, now - this.#at);
    return Math.max(0, this.#taken - elapsed * refill);
  }
}

function unitsOf({ amount = 1, periodMs }: Debit): number {
  return amount * periodMs;
}
