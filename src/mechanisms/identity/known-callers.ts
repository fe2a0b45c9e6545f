/**
 * Callers whose credentials were checked a moment ago, by the hash of what they showed, and by the very headers they showed it
 * in: requests of one connection come with the same object again and again, and then nothing is hashed.
 */
import type { Clock, HttpRequest, Principal } from "../../contract/index.ts";

/** Times are on the clock of this process, but for `endsAt`. */
export type Known = {
  readonly principal: Principal;
  /** Of what was shown; a principal may have several. */
  readonly hash: string;
  /** Unset: it is good at every endpoint. */
  readonly audience?: Audience | undefined;
  /** The proof itself is worth nothing from then on. */
  readonly expiresAt: number;
  /** The same on everybody's clock: that of this process stands still while its machine sleeps. Undefined: it does not expire. */
  readonly endsAt: number | undefined;
  checkedAt: number;
  /** Until then it is believed without another look. */
  until: number;
  /** From then on it is looked at again, behind the back of whoever comes. */
  againAt: number;
  isForgotten: boolean;
};

/** Whom a token is for; `whole`: what means the whole gateway. */
export type Audience = { readonly named: readonly string[]; readonly whole: readonly string[] };

const MAX_KNOWN = 20_000;
const MAX_REFUSED = 2_000;
/** Whoever was not known may become so, but not because they try again and again. */
const REFUSED_MS = 2_000;

// Invariants:
//  1. Whatever is in `#byHeaders` is in `#byHash`, or is forgotten: what is dropped from one is good in neither.
export class KnownCallers {
  readonly #clock: Clock;
  readonly #now: () => number;
  readonly #byHash = new Map<string, Known>();
  readonly #byHeaders = new WeakMap<HttpRequest["headers"], Known>();
  readonly #refused = new Map<string, { readonly error: unknown; readonly until: number }>();

  /** `now`: everybody's clock. */
  constructor(clock: Clock, now: () => number) {
    this.#clock = clock;
    this.#now = now;
  }

  /** Whoever is known by these headers. Asked for each request. */
  in(headers: HttpRequest["headers"], now: number): Known | undefined {
    const known = this.#byHeaders.get(headers);
    return known !== undefined && !known.isForgotten && now < known.until && !this.isOver(known) ? known : undefined;
  }

  find(hash: string): Known | undefined {
    const known = this.#byHash.get(hash);
    return known !== undefined && this.#clock.now() < known.until && !this.isOver(known) ? known : undefined;
  }

  /** Its proof has expired, by everybody's clock. */
  isOver({ endsAt }: Known): boolean {
    return endsAt !== undefined && this.#now() >= endsAt;
  }

  /** Also one that has to be looked at again before it is believed. */
  remembered(hash: string): Known | undefined {
    return this.#byHash.get(hash);
  }

  /** Throws what it was refused with, if that was a moment ago. */
  throwRefused(hash: string): void {
    const refused = this.#refused.get(hash);
    if (refused !== undefined && this.#clock.now() < refused.until) throw refused.error;
  }

  /** The same object as before where it is there: what is shown is the same, so it says the same. */
  put(fresh: Known): Known {
    const known = this.#byHash.get(fresh.hash);
    if (known === undefined) {
      this.#byHash.set(fresh.hash, fresh);
      if (this.#byHash.size > MAX_KNOWN) this.#dropOldest();
      return fresh;
    }
    const { checkedAt, until, againAt } = fresh;
    return Object.assign(known, { checkedAt, until, againAt });
  }

  /** From now on known by these headers, too. */
  bind(headers: HttpRequest["headers"], known: Known): void {
    this.#byHeaders.set(headers, known);
  }

  refuse(hash: string, error: unknown): void {
    const known = this.#byHash.get(hash);
    if (known) this.#drop(known);
    if (this.#refused.size >= MAX_REFUSED) this.#refused.clear();
    this.#refused.set(hash, { error, until: this.#clock.now() + REFUSED_MS });
  }

  /** They are looked at again with their next request. */
  forget(isMeant: (known: Known) => boolean): void {
    this.#refused.clear();
    for (const known of this.#byHash.values()) if (isMeant(known)) this.#drop(known);
  }

  /** Nobody is believed without another look. */
  doubtAll(): void {
    this.#refused.clear();
    for (const known of this.#byHash.values()) known.until = Number.NEGATIVE_INFINITY;
  }

  #dropOldest(): void {
    const [oldest] = this.#byHash.values();
    if (oldest) this.#drop(oldest);
  }

  #drop(known: Known): void {
    known.isForgotten = true;
    this.#byHash.delete(known.hash);
  }
}
