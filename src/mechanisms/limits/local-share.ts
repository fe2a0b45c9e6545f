/**
 * What this process lets through by itself while the store that all processes count in is away: its part of every rate and of
 * every number of places. What was taken before is not known then, so that all processes together may let through what a
 * bucket holds once more; whatever comes back is divided exactly.
 */
import {
  type Charge,
  type Counters,
  type Debit,
  GatewayError,
  type Limited,
  type SlotClaim,
} from "../../contract/index.ts";

/** Also counts the places that the store has given to this process, so that it knows them when the store goes away. */
export interface LocalCounters extends Counters {
  occupy(call: string, member: string, slots: readonly SlotClaim[]): void;
}

export class LocalShare {
  readonly #counters: LocalCounters;
  /** How many processes there were when that was last known; undefined: it never was. */
  readonly #members: () => number | undefined;

  constructor(counters: LocalCounters, members: () => number | undefined) {
    this.#counters = counters;
    this.#members = members;
  }

  /**
   * Throws STATE_UNAVAILABLE where a budget is to be taken from: whether it is spent cannot be known. And where nobody knows
   * among how many processes anything is to be divided.
   */
  take({ call, member, debits = [], slots = [] }: Charge): Limited | undefined {
    if (debits.length === 0 && slots.length === 0) return undefined;
    const among = this.#members();
    if (debits.some(({ refill }) => refill === 0)) {
      const message = "Whether the budget for this call is spent cannot be known while the store is away.";
      throw new GatewayError("STATE_UNAVAILABLE", { message });
    }
    if (among === undefined) {
      const message = "How many processes share the limit of this call was not known before their store went away.";
      throw new GatewayError("STATE_UNAVAILABLE", { message });
    }
    return this.#counters.take({
      call,
      member,
      debits: debits.map((debit) => shareOf(debit, among)),
      slots: slots.map((slot) => ({ ...slot, max: partOf(slot.max, among) })),
    });
  }

  occupy({ call, member, slots }: Charge): void {
    if (slots !== undefined && slots.length > 0) this.#counters.occupy(call, member, slots);
  }

  free(call: string, slots: readonly SlotClaim[]): void {
    if (slots.length > 0) this.#counters.free(call, slots);
  }
}

/** Rounded down, but never nothing: a limit that is smaller than the number of processes lets each make one call. */
function partOf(whole: number, among: number): number {
  return Math.max(1, Math.floor(whole / among));
}

/** As much comes back in as many times the time, which is a whole number whatever it is divided by. */
function shareOf(debit: Debit, among: number): Debit {
  return {
    ...debit,
    key: `${debit.key}/${among}`,
    capacity: partOf(debit.capacity, among),
    periodMs: debit.periodMs * among,
    ttlMs: debit.ttlMs * among,
  };
}
