import {
  type Charge,
  type Clock,
  type Counters,
  type Debit,
  GatewayError,
  LIMIT_LEVELS,
  type Limited,
  type SlotClaim,
} from "../../contract/index.ts";
import { LastingBuckets } from "./lasting-buckets.ts";
import { OwnBuckets } from "./own-buckets.ts";
import { TokenBucket } from "./token-bucket.ts";

export type MemoryCountersOptions = {
  readonly clock: Clock;
  /** Whether the lease of a member is alive: the places of the others are free. */
  readonly isAlive: (member: string) => boolean;
  /** Of the buckets that are remembered of each sort: those that may go, those that may not, and tenants' own; default 100,000. */
  readonly maxBuckets?: number;
};

const MAX_BUCKETS = 100_000;
const SWEEP_EVERY_MS = 60_000;
const MOVE_EVERY_MS = 1_000;
/** Of which nothing was taken yet. */
const FULL = new TokenBucket();
const NONE: readonly never[] = [];

/** Buckets and places of one process. Everything is decided in one piece, so that nobody can come in between. */
export class MemoryCounters implements Counters {
  readonly #options: MemoryCountersOptions;
  readonly #maxBuckets: number;
  /** Those that may go: the longest unused is the first, and goes first. */
  readonly #passing = new Map<string, TokenBucket>();
  /** Budgets: one that was forgotten would be full again for whoever has spent it. */
  readonly #lasting: LastingBuckets;
  readonly #own: OwnBuckets;
  /** By the key of the place: the member of each call. */
  readonly #places = new Map<string, Map<string, string>>();
  #sweepAt = 0;

  constructor(options: MemoryCountersOptions) {
    this.#options = options;
    this.#maxBuckets = options.maxBuckets ?? MAX_BUCKETS;
    this.#lasting = new LastingBuckets(this.#maxBuckets);
    this.#own = new OwnBuckets(this.#maxBuckets);
  }

  /** How many buckets are remembered. */
  get size(): number {
    return this.#passing.size + this.#lasting.size + this.#own.size;
  }

  /** Throws OVERLOADED where a budget would have to be remembered for which there is no room. */
  take({ call, member, debits = NONE, slots = NONE }: Charge): Limited | undefined {
    // In whole ms, rounded down: no token comes early.
    const now = Math.floor(this.#options.clock.now());
    const limited = firstOf(this.#emptyBucket(debits, now), this.#fullPlace(slots, call));
    if (limited !== undefined) return limited;
    if (this.#lasting.fullFor(debits.length, debits[0]?.tenant) !== undefined) this.#refuseNewBudgets(debits, now);
    for (const debit of debits) this.#debit(debit, now);
    for (const { key } of slots) this.#callsAt(key).set(call, member);
    return undefined;
  }

  free(call: string, slots: readonly SlotClaim[]): void {
    for (const { key } of slots) {
      const calls = this.#places.get(key);
      if (calls?.delete(call) && calls.size === 0) this.#places.delete(key);
    }
  }

  /** Takes places whatever their number: another store has given them. */
  occupy(call: string, member: string, slots: readonly SlotClaim[]): void {
    for (const { key } of slots) this.#callsAt(key).set(call, member);
  }

  #emptyBucket(debits: readonly Debit[], now: number): Limited | undefined {
    for (const debit of debits) {
      const retryMs = (this.#known(debit, now) ?? FULL).waitMs(debit, now);
      if (retryMs === 0) continue;
      const { key, level } = debit;
      return { type: "limited", of: "bucket", level, key, ...(retryMs !== undefined && { retryMs }) };
    }
    return undefined;
  }

  #fullPlace(slots: readonly SlotClaim[], call: string): Limited | undefined {
    for (const { key, level, max } of slots) {
      if (!this.#hasRoom(key, max, call)) return { type: "limited", of: "places", level, key };
    }
    return undefined;
  }

  #hasRoom(key: string, max: number, call: string): boolean {
    const calls = this.#places.get(key);
    if (calls === undefined) return max > 0;
    if (calls.size < max || calls.has(call)) return true;
    for (const [held, member] of calls) if (!this.#options.isAlive(member)) calls.delete(held);
    return calls.size < max;
  }

  #known(debit: Debit, now: number): TokenBucket | undefined {
    const bucket = this.#bucketOf(debit);
    return bucket !== undefined && bucket.endsAt > now ? bucket : undefined;
  }

  #debit(debit: Debit, now: number): void {
    const known = this.#known(debit, now);
    const bucket = known ?? new TokenBucket();
    bucket.take(debit, now);
    // Not with each call: what matters is who was not seen for long.
    if (known !== undefined && now - known.movedAt < MOVE_EVERY_MS) return;
    bucket.movedAt = now;
    if (known === undefined && now >= this.#sweepAt) this.#sweep(now);
    const { key, tenant } = debit;
    if (isOwn(debit)) return this.#own.put(debit.tenant, key, bucket);
    if (isLasting(debit)) return this.#lasting.put(key, bucket, tenant);
    this.#passing.delete(key);
    if (known === undefined) this.#makeRoom();
    this.#passing.set(key, bucket);
  }

  #bucketOf(debit: Debit): TokenBucket | undefined {
    if (isOwn(debit)) return this.#own.get(debit.tenant, debit.key);
    return (isLasting(debit) ? this.#lasting : this.#passing).get(debit.key);
  }

  #makeRoom(): void {
    if (this.#passing.size < this.#maxBuckets) return;
    const [oldest] = this.#passing.keys();
    if (oldest !== undefined) this.#passing.delete(oldest);
  }

  #refuseNewBudgets(debits: readonly Debit[], now: number): void {
    if (now >= this.#sweepAt) this.#sweep(now);
    const isNew = (debit: Debit) => isLasting(debit) && !isOwn(debit) && !this.#known(debit, now);
    const wanted = debits.filter(isNew).length;
    // What one call takes is all of one tenant.
    const message = wanted === 0 ? undefined : this.#lasting.fullFor(wanted, debits[0]?.tenant);
    if (message !== undefined) throw new GatewayError("OVERLOADED", { message });
  }

  #sweep(now: number): void {
    this.#sweepAt = now + SWEEP_EVERY_MS;
    for (const [key, { endsAt }] of this.#passing) if (endsAt <= now) this.#passing.delete(key);
    this.#lasting.sweep(now);
    this.#own.sweep(now);
  }

  #callsAt(key: string): Map<string, string> {
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const calls = new Map<string, string>();
    this.#places.set(key, calls);
    return calls;
  }
}

/** What fills by itself may go, and what a caller can have anew at any time. */
function isLasting({ refill, isOfSession }: Debit): boolean {
  return refill === 0 && isOfSession !== true;
}

function isOwn(debit: Debit): debit is Debit & { readonly tenant: string } {
  return debit.isOwn === true && debit.tenant !== undefined;
}

/** Of what refuses by its rate and what refuses by its places, the one whose level comes first. */
function firstOf(bucket: Limited | undefined, place: Limited | undefined): Limited | undefined {
  if (bucket === undefined || place === undefined) return bucket ?? place;
  return LIMIT_LEVELS.indexOf(place.level) < LIMIT_LEVELS.indexOf(bucket.level) ? place : bucket;
}
