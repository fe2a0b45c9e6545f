/** How much of a bound each caller has: nobody can take all of it from the others, by however many tokens they come. */
import { DEFAULT_TENANT, identityOf, type Principal } from "../../contract/index.ts";

/** A bound is never spent by fewer callers than these. */
const FEWEST = 4;
/** Nor by fewer tenants. The platform's own is no share of it: whoever looks after all of them is there. */
const FEWEST_TENANTS = 2;

/** One of those to whom what a caller takes is counted. */
export type Share = { readonly key: string; readonly size: number; readonly whose: "caller" | "tenant" };

export class Shares {
  readonly #bound: number;
  readonly #ofCaller: number;
  readonly #ofEverybody: number;
  readonly #taken = new Map<string, number>();
  /** Of callers who have something: what they give back is counted where it was, though they come under another user's name since. */
  readonly #known = new Map<string, readonly Share[]>();

  /** `ofCaller`: how many one caller may have, whoever it is; unset: its part, and all of it where nobody is asked who they are. */
  constructor(bound: number, ofCaller?: number) {
    this.#bound = bound;
    this.#ofCaller = ofCaller ?? Math.ceil(bound / FEWEST);
    this.#ofEverybody = ofCaller ?? bound;
  }

  /** Whether the caller, its user or its tenant would have more than one may with so many more. */
  isSpent(principal: Principal, more = 1): boolean {
    return this.spent(principal, more) !== undefined;
  }

  /** What the caller would take its next ones from, and cannot. */
  spent(principal: Principal, more = 1): Share | undefined {
    return this.sharesOf(principal).find(({ key, size }) => (this.#taken.get(key) ?? 0) + more > size);
  }

  /** Whether what a caller has is counted to this one. */
  isOf(share: Share, principal: Principal): boolean {
    return this.sharesOf(principal).some(({ key }) => key === share.key);
  }

  take(principal: Principal, amount = 1): void {
    const shares = this.sharesOf(principal);
    this.#known.set(ownKey(principal), shares);
    for (const { key } of shares) this.#taken.set(key, (this.#taken.get(key) ?? 0) + amount);
  }

  giveBack(principal: Principal, amount = 1): void {
    for (const { key } of this.sharesOf(principal)) {
      const left = (this.#taken.get(key) ?? 0) - amount;
      if (left > 0) this.#taken.set(key, left);
      else this.#taken.delete(key);
    }
    if (!this.#taken.has(ownKey(principal))) this.#known.delete(ownKey(principal));
  }

  /** To whom what the caller takes is counted. */
  sharesOf(principal: Principal): readonly Share[] {
    return this.#known.get(ownKey(principal)) ?? this.#find(principal);
  }

  #find(principal: Principal): readonly Share[] {
    const { tenant, user, proof } = identityOf(principal);
    const own = (size: number): Share => ({ key: ownKey(principal), size, whose: "caller" });
    // Nobody was asked who they are: the one principal stands for everybody.
    if (proof === "local" || proof === "none") return [own(this.#ofEverybody)];
    const shares: Share[] = [own(this.#ofCaller)];
    if (user !== "") shares.push({ key: JSON.stringify([tenant, user]), size: this.#ofCaller, whose: "caller" });
    if (tenant !== DEFAULT_TENANT)
      shares.push({ key: JSON.stringify([tenant]), size: Math.ceil(this.#bound / FEWEST_TENANTS), whose: "tenant" });
    return shares;
  }
}

function ownKey(principal: Principal): string {
  return JSON.stringify([identityOf(principal).tenant, "", principal.id]);
}
