/** What one connection holds of messages, and whose it is: that is found out only where there is something to hold. */
import { type ByteBudget, HeldMessage, type Holder, SMALL_BYTES } from "../../contract/index.ts";
import type { Exchange } from "./exchange.ts";
import type { Unfinished, UnfinishedBook } from "./unfinished.ts";

/** What it needs of the listener. */
export interface HoldingHost {
  readonly budget: ByteBudget;
  readonly unfinished: UnfinishedBook;
  /** Whose bytes come on a connection; the exchange: whose body it is, unset: it has not been asked for. */
  holderOf(peer: string, exchange: Exchange | undefined): Holder;
}

export class HeldBytes {
  readonly #client: Unfinished & { readonly peerAddress: string };
  readonly #host: HoldingHost;
  #bytes = 0;
  #holder: Holder | undefined;
  #asked: Exchange | undefined;

  constructor(client: Unfinished & { readonly peerAddress: string }, host: HoldingHost) {
    this.#client = client;
    this.#host = host;
  }

  get #heldBy(): Holder {
    this.#holder ??= this.#host.holderOf(this.#client.peerAddress, this.#asked);
    return this.#holder;
  }

  /** Whose body comes now; undefined: nobody has asked for what comes. */
  askedBy(exchange: Exchange | undefined): void {
    this.#asked = exchange;
    this.#holder = undefined;
  }

  /** So much is here of what is not whole; mostly that is nothing. False: it does not fit. */
  set(bytes: number): boolean {
    if (bytes === this.#bytes) return true;
    const fits = this.#host.unfinished.set(this.#client, this.#heldBy, bytes);
    this.#bytes = fits ? bytes : 0;
    return fits;
  }

  /** It stands in the book no more. */
  clear(): void {
    this.set(0);
  }

  /** Whether a body of that length will fit. */
  makeRoom(bytes: number): boolean {
    if (bytes <= SMALL_BYTES) return true;
    this.clear();
    return this.#host.unfinished.makeRoom(this.#heldBy, bytes);
  }

  /** The whole body of the exchange is here: from now on it belongs to that. */
  give(exchange: Exchange, bytes: number): void {
    if (bytes > SMALL_BYTES) exchange.hold(new HeldMessage(this.#host.budget, this.#heldBy, bytes));
  }
}
