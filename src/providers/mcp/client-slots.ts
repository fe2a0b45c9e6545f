/**
 * The slots of clients that have an upstream session of their own: bounded, by caller too, and given back when nobody uses them. A
 * client has one slot, and spares beside it while calls need sessions to themselves.
 */
import { type Clock, type Departure, GatewayError, type Principal, type SessionRef } from "../../contract/index.ts";
import { Shares } from "../../mechanisms/sessions/index.ts";
import type { ListMemory } from "./list-memory.ts";
import type { SessionSlot } from "./session-slot.ts";

/** A spare may be a process: one client shall not fill the machine with them. */
const MAX_SPARES = 7;

export type OfClient = {
  /** What is listed for the client, in whichever of its slots. */
  readonly lists: ListMemory;
  readonly spareOf?: SessionSlot | undefined;
};

type ClientSlotsOptions = {
  readonly create: (client: SessionRef, own: OfClient) => SessionSlot;
  readonly createLists: () => ListMemory;
  readonly clock: Clock;
  readonly max: number;
  /** This client is offered nothing of its own any more. */
  readonly onGone: (client: SessionRef) => void;
};

// Invariants:
//  1. Until all are closed `#shares` counts exactly what is in `all`.
//  2. What a client is offered is in `#lists`, until it is gone: also where its slot was closed to make room for another's.
export class ClientSlots {
  readonly #slots = new Map<string, SessionSlot>();
  /** Their clients are gone, but tasks or calls still run in them. */
  readonly #released = new Set<SessionSlot>();
  readonly #lists = new Map<string, ListMemory>();
  readonly #options: ClientSlotsOptions;
  readonly #shares: Shares;

  constructor(options: ClientSlotsOptions) {
    this.#options = options;
    this.#shares = new Shares(options.max);
  }

  /** How many of them have a session now. */
  get openCount(): number {
    return this.all.filter((slot) => slot.ready !== undefined).length;
  }

  get all(): SessionSlot[] {
    return [...[...this.#slots.values()].flatMap((slot) => [slot, ...slot.spares]), ...this.#released];
  }

  get(session: string): SessionSlot | undefined {
    return this.#slots.get(session);
  }

  /** Throws OVERLOADED when there are too many, of all or of this caller, and all of them are in use. */
  take(client: SessionRef): SessionSlot {
    const existing = this.#slots.get(client.id);
    if (existing) return existing;
    const { principal } = client;
    if (!this.#makeRoom(principal)) {
      const whose = this.#shares.isSpent(principal)
        ? "This caller has as many sessions at the server as one"
        : "The server has as many sessions as it";
      throw new GatewayError("OVERLOADED", { message: `${whose} may have.` });
    }
    const slot = this.#options.create(client, { lists: this.#listsOf(client) });
    this.#slots.set(client.id, slot);
    this.#shares.take(principal);
    return slot;
  }

  /** One more slot beside a client's first; undefined when it, or all of them, have as many as they may have. */
  addSpare(first: SessionSlot): SessionSlot | undefined {
    const { client, spares } = first;
    if (!client || this.#slots.get(client.id) !== first || spares.length >= MAX_SPARES) return undefined;
    if (!this.#makeRoom(client.principal)) return undefined;
    const spare = this.#options.create(client, { lists: this.#listsOf(client), spareOf: first });
    spares.push(spare);
    this.#shares.take(client.principal);
    return spare;
  }

  /** Closes the longest idle one if there are too many: the caller's own, where its share is spent. False: all are in use. */
  #makeRoom(principal: Principal): boolean {
    const all = this.all;
    const spent = this.#shares.spent(principal);
    if (!spent && all.length < this.#options.max) return true;
    const isMeant = ({ client }: SessionSlot) => !spent || (client && this.#shares.isOf(spent, client.principal));
    const [longest] = all.filter((slot) => slot.isIdle && isMeant(slot)).sort((a, b) => a.lastUsed - b.lastUsed);
    if (!longest) return false;
    this.#close(longest);
    return true;
  }

  #listsOf({ id }: SessionRef): ListMemory {
    const lists = this.#lists.get(id) ?? this.#options.createLists();
    this.#lists.set(id, lists);
    return lists;
  }

  #close(slot: SessionSlot): void {
    const { client } = slot;
    const isGone = client?.isEphemeral || this.#released.has(slot);
    this.#remove(slot);
    void slot.close();
    if (client && isGone && !this.#slots.has(client.id)) this.#forget(client);
  }

  #forget(client: SessionRef): void {
    this.#lists.get(client.id)?.close();
    this.#lists.delete(client.id);
    this.#options.onGone(client);
  }

  #remove(slot: SessionSlot): void {
    const first = this.#slots.get(slot.client?.id ?? "");
    if (first === slot) {
      this.#slots.delete(slot.client?.id ?? "");
      for (const spare of slot.spares.splice(0)) this.#released.add(spare);
    } else first?.spares.splice(first.spares.indexOf(slot), 1);
    this.#released.delete(slot);
    this.#giveBack(slot);
  }

  #giveBack({ client }: SessionSlot): void {
    if (client) this.#shares.giveBack(client.principal);
  }

  /**
   * The client is gone: its session is closed as soon as nothing runs in it, and at once where the client went to another
   * process: what runs here can reach it no more.
   */
  release(client: SessionRef, reason: Departure): void {
    const slot = this.#slots.get(client.id);
    if (slot) this.#release(slot, client, reason);
    if (this.#lists.has(client.id)) this.#forget(client);
  }

  #release(slot: SessionSlot, { id }: SessionRef, reason: Departure): void {
    this.#slots.delete(id);
    if (reason === "ended") slot.subscriptions.dropSession(id);
    for (const one of [slot, ...slot.spares.splice(0)]) {
      if (reason !== "moved" && !one.isIdle) {
        this.#released.add(one);
        continue;
      }
      this.#giveBack(one);
      void one.close(reason === "moved");
    }
  }

  /** Closes what was not used for `idleMs`, and what was released and has ended since. */
  sweep(idleMs: number): void {
    const now = this.#options.clock.now();
    const all = this.all;
    for (const slot of all) slot.tasks.sweep(now);
    for (const slot of all.filter((one) => one.isIdle)) {
      const isFirst = this.#slots.get(slot.client?.id ?? "") === slot;
      const isLeft = now - slot.lastUsed >= idleMs;
      if (isFirst && slot.ready && isLeft) void slot.sleep();
      else if (this.#released.has(slot) || (!isFirst && isLeft)) this.#close(slot);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map((slot) => slot.close()));
    for (const lists of this.#lists.values()) lists.close();
    this.#lists.clear();
    this.#slots.clear();
    this.#released.clear();
  }
}
