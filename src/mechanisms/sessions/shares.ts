/** How much of a bound each caller has: nobody can take all of it from the others. */
import { identityOf, type Principal } from "../../contract/index.ts";

/** A bound is never spent by fewer callers than these. */
const FEWEST = 4;

export class Shares {
  readonly #bound: number;
  readonly #taken = new Map<string, number>();

  constructor(bound: number) {
    this.#bound = bound;
  }

  /** Whether the caller has as many as one caller may. */
  isSpent(principal: Principal): boolean {
    const { proof } = identityOf(principal);
    // Nobody was asked who they are: the one principal stands for everybody.
    const isEverybody = proof === "local" || proof === "none";
    const share = isEverybody ? this.#bound : Math.ceil(this.#bound / FEWEST);
    return (this.#taken.get(principal.id) ?? 0) >= share;
  }

  take({ id }: Principal): void {
    this.#taken.set(id, (this.#taken.get(id) ?? 0) + 1);
  }

  giveBack({ id }: Principal): void {
    const left = (this.#taken.get(id) ?? 0) - 1;
    if (left > 0) this.#taken.set(id, left);
    else this.#taken.delete(id);
  }
}
