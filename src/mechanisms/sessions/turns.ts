/**
 * How often each caller may begin what is dear: as often as it may have of it, a part of that at once and the rest within
 * seconds, and then so many in a minute.
 */
import type { Clock, Principal } from "../../contract/index.ts";
import type { Share, Shares } from "./shares.ts";

/** However small its share is, so many at once; clients open several sessions when they start. */
const FEWEST_AT_ONCE = 10;
/** And so many in a minute. */
const FEWEST_A_MINUTE = 60;
/** At once, and in each second, it is this part of a share: who begins all of it in one moment holds up all others. */
const PARTS = 4;
/** Of those who have begun something: with more they are looked through, and those forgotten who have all their turns again. */
const MANY = 1024;

/** A bucket: so many at once, and how fast they come back. */
type Bound = { readonly most: number; readonly perMs: number };
/** How many are missing in each of its buckets. */
type Used = { readonly turns: readonly number[]; readonly at: number };

export class Turns {
  readonly #shares: Shares;
  readonly #clock: Clock;
  /** By share; without an entry it has all its turns. */
  readonly #used = new Map<string, Used>();
  /** With more than these it is time to forget some. */
  #most = MANY;

  constructor(shares: Shares, clock: Clock) {
    this.#shares = shares;
    this.#clock = clock;
  }

  /** In how many ms the caller has its next turn; 0: now. */
  waitMs(principal: Principal): number {
    const waits = this.#shares.sharesOf(principal).flatMap((share) => {
      const used = this.#usedOf(share);
      return boundsOf(share).map(({ most, perMs }, at) => ((used[at] ?? 0) + 1 - most) / perMs);
    });
    return Math.max(0, ...waits);
  }

  take(principal: Principal): void {
    for (const share of this.#shares.sharesOf(principal)) {
      const turns = this.#usedOf(share).map((used) => used + 1);
      this.#used.set(share.key, { turns, at: this.#clock.now() });
    }
    if (this.#used.size > this.#most) this.#forget();
  }

  #usedOf(share: Pick<Share, "key" | "size">): readonly number[] {
    const { turns = [], at = 0 } = this.#used.get(share.key) ?? {};
    const goneMs = this.#clock.now() - at;
    return boundsOf(share).map(({ perMs }, bound) => Math.max(0, (turns[bound] ?? 0) - goneMs * perMs));
  }

  /** At the slowest pace: whoever is faster is remembered a little longer than needed. */
  #forget(): void {
    for (const key of this.#used.keys())
      if (this.#usedOf({ key, size: 0 }).every((used) => used === 0)) this.#used.delete(key);
    this.#most = Math.max(MANY, 2 * this.#used.size);
  }
}

function boundsOf({ size }: Pick<Share, "size">): readonly Bound[] {
  const atOnce = Math.max(Math.ceil(size / PARTS), FEWEST_AT_ONCE);
  return [
    { most: atOnce, perMs: atOnce / 1_000 },
    { most: Math.max(size, FEWEST_AT_ONCE), perMs: Math.max(size, FEWEST_A_MINUTE) / 60_000 },
  ];
}
