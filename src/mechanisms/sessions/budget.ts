/** So many bytes for all callers together, of which none has more than a share: see `Shares`. */
import type { Principal } from "../../contract/index.ts";
import { Shares } from "./shares.ts";

export class Budget {
  readonly #most: number;
  readonly #shares: Shares;
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
    this.#shares = new Shares(most);
  }

  hasRoom(principal: Principal, bytes: number): boolean {
    return this.#taken + bytes <= this.#most && !this.#shares.isSpent(principal, bytes);
  }

  take(principal: Principal, bytes: number): void {
    this.#taken += bytes;
    this.#shares.take(principal, bytes);
  }

  giveBack(principal: Principal, bytes: number): void {
    this.#taken -= bytes;
    this.#shares.giveBack(principal, bytes);
  }
}
