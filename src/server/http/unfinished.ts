/**
 * What clients have sent of messages that are not whole yet. Where it does not fit, those that hold most give way, and of
 * theirs whatever has not grown for the longest time: who goes on sending is not ended for the sake of who waits.
 *
 * Invariants:
 *  1. `#parts` and `#slowest` have the same clients; the budget has counted the bytes of each.
 *  2. In each set of `#slowest` the client stands last whose part has grown last.
 */
import type { ByteBudget, Holder } from "../../contract/index.ts";

/** A connection on which a part of a message is here. */
export interface Unfinished {
  /** It is not waited for any longer. */
  giveWay(): void;
}

type Part = { readonly holder: Holder; readonly bytes: number };

export class UnfinishedBook {
  readonly #budget: ByteBudget;
  readonly #parts = new Map<Unfinished, Part>();
  readonly #slowest = new Map<string, Set<Unfinished>>();

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  /** So much is here now of what it sends. False: it does not fit, and is not counted. */
  set(client: Unfinished, holder: Holder, bytes: number): boolean {
    this.#forget(client);
    if (bytes === 0) return true;
    if (!this.makeRoom(holder, bytes)) return false;
    this.#budget.take(holder, bytes);
    this.#parts.set(client, { holder, bytes });
    const clients = this.#slowest.get(holder.name);
    if (clients) clients.add(client);
    else this.#slowest.set(holder.name, new Set([client]));
    return true;
  }

  /** Whether it fits, if need be because others give way. */
  makeRoom(holder: Holder, bytes: number): boolean {
    while (!this.#budget.fits(holder, bytes)) {
      const client = this.#budget.everFits(bytes) ? this.#findSlowest(holder, bytes) : undefined;
      if (!client) return false;
      this.#forget(client);
      client.giveWay();
    }
    return true;
  }

  /** Of whoever has most, and no less than this holder would have; of those of its group, if that has too much. */
  #findSlowest({ name, group }: Holder, bytes: number): Unfinished | undefined {
    const { bytes: all, held } = this.#budget;
    const isOfGroup = group !== undefined && this.#budget.of(group) + bytes > all - held - bytes;
    let most = -1;
    let found: Unfinished | undefined;
    for (const [other, clients] of this.#slowest) {
      const [client] = clients;
      const part = client && this.#parts.get(client);
      if (!part || (isOfGroup && part.holder.group !== group)) continue;
      const has = this.#budget.of(other);
      if (has <= most || (other !== name && has < this.#budget.of(name) + bytes)) continue;
      most = has;
      found = client;
    }
    return found;
  }

  #forget(client: Unfinished): void {
    const part = this.#parts.get(client);
    if (!part) return;
    const { holder, bytes } = part;
    this.#parts.delete(client);
    const clients = this.#slowest.get(holder.name);
    clients?.delete(client);
    if (clients?.size === 0) this.#slowest.delete(holder.name);
    this.#budget.giveBack(holder, bytes);
  }
}
