import type { Call, HeldCharges } from "../../contract/index.ts";

/** What calls that are held will take when they are let go: one item for each of them that there is now. */
export class HeldChargeBook implements HeldCharges {
  readonly #held = new Map<string, () => Promise<void>>();

  /** `take` rejects where it took nothing, and may then be asked again. */
  hold(call: Call, take: () => Promise<void>): void {
    this.#held.set(call.id, take);
  }

  /** The call is over. */
  forget({ id }: Call): void {
    this.#held.delete(id);
  }

  async take({ id }: Call): Promise<void> {
    const take = this.#held.get(id);
    if (take === undefined) return;
    this.#held.delete(id);
    try {
      await take();
    } catch (error) {
      this.#held.set(id, take);
      throw error;
    }
  }
}
