/**
 * What clients have not read of what was written for them. One that does not read at all may leave so much of it, and all of
 * them together so much: beyond that it is cut off, before it fills the memory that everybody uses. The buffers of the
 * system, some MiB for each, do not count.
 */

import type { ByteBudget } from "../../contract/index.ts";

export type UnreadLimits = {
  /** With more than this a connection gets nothing more. One answer may be larger. */
  readonly eachBytes: number;
  readonly allBytes: number;
};

const MOST: UnreadLimits = { eachBytes: 32 * 1024 * 1024, allBytes: 128 * 1024 * 1024 };

/** No more than the half of what the process may hold of messages. */
export function unreadLimits({ bytes }: Pick<ByteBudget, "bytes">): UnreadLimits {
  return { eachBytes: Math.min(MOST.eachBytes, bytes / 8), allBytes: Math.min(MOST.allBytes, bytes / 2) };
}

/** A connection whose client is behind. */
export interface Unread {
  readonly unreadBytes: number;
  /** What has left for the client so far. */
  readonly sentBytes: number;
  cutUnread(): void;
}

type Held = { bytes: number; sentBytes: number; since: number };

// Invariants:
//  1. `#sum` is the sum of `bytes` over `#held`; it is what was last seen, and no less than what there is.
export class UnreadBook {
  readonly limits: UnreadLimits;
  readonly #budget: ByteBudget;
  readonly #held = new Map<Unread, Held>();
  #sum = 0;
  #tick = 0;

  constructor(limits: UnreadLimits, budget: ByteBudget) {
    this.limits = limits;
    this.#budget = budget;
  }

  /** The client takes less than is written for it. */
  grew(client: Unread): void {
    this.#see(client);
    if (this.#fits) return;
    this.#look();
    while (!this.#fits && this.#held.size > 0) this.#cutSlowest();
  }

  get #fits(): boolean {
    return this.#sum <= this.limits.allBytes && !this.#budget.isFull;
  }

  #change(bytes: number): void {
    this.#sum += bytes;
    this.#budget.count(bytes);
  }

  /** It has everything, or is gone. */
  caughtUp(client: Unread): void {
    const held = this.#held.get(client);
    if (!held) return;
    this.#change(-held.bytes);
    this.#held.delete(client);
  }

  /** Once in a while: who has taken something since? */
  tick(): void {
    this.#tick++;
    this.#look();
  }

  #look(): void {
    for (const client of this.#held.keys()) this.#see(client);
  }

  #see(client: Unread): void {
    const { unreadBytes: bytes, sentBytes } = client;
    const former = this.#held.get(client);
    const since = former?.sentBytes === sentBytes ? former.since : this.#tick;
    this.#change(bytes - (former?.bytes ?? 0));
    this.#held.set(client, { bytes, sentBytes, since });
  }

  /** Whoever has taken nothing for the longest time; of several, whoever has most to take. */
  #cutSlowest(): void {
    let slowest: [Unread, Held] | undefined;
    for (const one of this.#held) {
      const [, held] = one;
      const [, worst] = slowest ?? [];
      if (!worst || held.since < worst.since || (held.since === worst.since && held.bytes > worst.bytes)) slowest = one;
    }
    if (!slowest) return;
    this.caughtUp(slowest[0]);
    slowest[0].cutUnread();
  }
}
