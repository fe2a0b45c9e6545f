/**
 * How many bytes of messages this process holds at once: of those that are not whole yet, of those whose calls have not ended,
 * and of answers that nobody has read. One for all of them, since they are in one memory.
 *
 * A holder may take as much as would then still be free. So one alone gets half of it, of several that take all they can each
 * gets the same, and whoever comes next always finds room. Tenants are held to that with all their callers together, and so is
 * everybody who is not known.
 *
 * Invariant: `#held` is the sum of all that was taken and not given back, and each entry of `#shares` is that of one name.
 */
import { DEFAULT_TENANT, identityOf, PEER, type Principal } from "./principal.ts";

/** Whose bytes they are. */
export type Holder = {
  readonly name: string;
  /** Of several who have one share together. */
  readonly group?: string;
};

/** Messages up to here are counted in the sum alone: there are only as many of them as connections and places in lines. */
export const SMALL_BYTES = 16 * 1024;

export class ByteBudget {
  readonly bytes: number;
  #held = 0;
  readonly #shares = new Map<string, number>();

  constructor(bytes: number) {
    this.bytes = bytes;
  }

  get held(): number {
    return this.#held;
  }

  /** Nothing more fits, whoever's it is. */
  get isFull(): boolean {
    return this.#held >= this.bytes;
  }

  /** What stands under a name, of a holder or of a group. */
  of(name: string): number {
    return this.#shares.get(name) ?? 0;
  }

  /** Whether the holder may have so much more. */
  fits({ name, group }: Holder, bytes: number): boolean {
    const free = this.bytes - this.#held - bytes;
    return this.of(name) + bytes <= free && (group === undefined || this.of(group) + bytes <= free);
  }

  /** The most that `fits`. */
  freeFor({ name, group }: Holder): number {
    const taken = Math.max(this.of(name), group === undefined ? 0 : this.of(group));
    return Math.max(0, Math.floor((this.bytes - this.#held - taken) / 2));
  }

  /** Whether they may ever have so much at once. */
  everFits(bytes: number): boolean {
    return 2 * bytes <= this.bytes;
  }

  take({ name, group }: Holder, bytes: number): void {
    this.#held += bytes;
    this.#change(name, bytes);
    if (group !== undefined) this.#change(group, bytes);
  }

  giveBack(holder: Holder, bytes: number): void {
    this.take(holder, -bytes);
  }

  /** What is of nobody in particular, or too small to ask whose it is; negative: what is gone of that. */
  count(bytes: number): void {
    this.#held += bytes;
  }

  #change(name: string, bytes: number): void {
    const now = this.of(name) + bytes;
    if (now === 0) this.#shares.delete(name);
    else this.#shares.set(name, now);
  }
}

/** One message in memory. It counts once, however many hold it, until the last of them lets go. */
export class HeldMessage {
  readonly #budget: ByteBudget;
  readonly #holder: Holder;
  readonly #bytes: number;
  #count = 0;

  constructor(budget: ByteBudget, holder: Holder, bytes: number) {
    this.#budget = budget;
    this.#holder = holder;
    this.#bytes = bytes;
  }

  hold(): this {
    if (this.#count++ === 0) this.#budget.take(this.#holder, this.#bytes);
    return this;
  }

  letGo(): void {
    if (--this.#count === 0) this.#budget.giveBack(this.#holder, this.#bytes);
  }
}

/** What one holder gathers piece by piece. */
export class GatheredBytes {
  readonly #budget: ByteBudget;
  readonly #holder: Holder;
  #bytes = 0;

  constructor(budget: ByteBudget, holder: Holder) {
    this.#budget = budget;
    this.#holder = holder;
  }

  /** So much of it is there now. False: that is more than fits, and is not counted. */
  set(bytes: number): boolean {
    const now = bytes > SMALL_BYTES ? bytes : 0;
    if (now === this.#bytes) return true;
    if (now > this.#bytes && !this.#budget.fits(this.#holder, now - this.#bytes)) return false;
    this.#budget.take(this.#holder, now - this.#bytes);
    this.#bytes = now;
    return true;
  }

  clear(): void {
    this.set(0);
  }
}

/** `address`: where the caller is; it stands for callers who cannot be told apart otherwise. */
export function holderOf(principal: Principal, address: string): Holder {
  const { tenant, user, proof } = identityOf(principal);
  if (proof === "none") return { name: `address ${address}`, group: "unknown callers" };
  if (principal.id !== PEER.id && proof === "local") return { name: `address ${address}` };
  const name = user === "" ? `principal ${principal.id}` : `user ${JSON.stringify([tenant, user])}`;
  return tenant === DEFAULT_TENANT ? { name } : { name, group: `tenant ${tenant}` };
}
