/** Which era of MCP a server speaks, as it was last seen: one verdict per provider, for all its sessions. */
import type { Clock } from "../../../contract/index.ts";

export type Era = "2025" | "2026";

/** A server that was upgraded still answers the old way: nothing but time makes us look again. */
const LEGACY_MS = 24 * 3_600_000;

export class Eras {
  readonly #pin: Era | undefined;
  readonly #clock: Clock;
  #verdict: { readonly era: Era; readonly at: number } | undefined;

  constructor(pin: "auto" | Era, clock: Clock) {
    this.#pin = pin === "auto" ? undefined : pin;
    this.#clock = clock;
  }

  /** A new session first asks the server whether it speaks 2026-07-28. */
  get mustAsk(): boolean {
    return this.#pin === undefined ? this.#verdict?.era !== "2025" || this.isExpired : this.#pin === "2026";
  }

  get allowsLegacy(): boolean {
    return this.#pin !== "2026";
  }

  /** The server was of the old era, too long ago to be sure that it still is. */
  get isExpired(): boolean {
    const verdict = this.#verdict;
    return this.#pin === undefined && verdict?.era === "2025" && this.#clock.now() - verdict.at >= LEGACY_MS;
  }

  note(era: Era): void {
    this.#verdict = { era, at: this.#clock.now() };
  }
}
