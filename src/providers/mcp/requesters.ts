/** Whose calls an upstream session has carried: while that is one, what the server says by itself can only be meant for them. */
import { type Call, requesterOf } from "../../contract/index.ts";

export class Requesters {
  /** Undefined: nobody so far, or several. */
  #only: string | undefined;
  #principal: string | undefined;
  #areSeveral = false;

  note(call: Call): void {
    if (this.#areSeveral) return;
    const requester = requesterOf(call);
    if (this.#only !== undefined && requester === this.#only) return;
    this.#areSeveral = this.#only !== undefined || requester === undefined;
    this.#only = this.#areSeveral ? undefined : requester;
    this.#principal = this.#only === call.principal.id ? this.#only : undefined;
  }

  /** Nobody else has called, as far as is known. */
  get isOne(): boolean {
    return this.#only !== undefined;
  }

  /** Whose all calls were; undefined also where it called for others, all of whom would hear what is said to it. */
  get principal(): string | undefined {
    return this.#principal;
  }
}
