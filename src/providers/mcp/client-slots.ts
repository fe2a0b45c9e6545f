/**
 * The slots of clients that have an upstream session of their own: bounded, by caller too, and given back when nobody uses them. A
 * client has one slot, and spares beside it while calls need sessions to themselves.
 */
import { type Clock, type Departure, GatewayError, type Principal, type SessionRef } from "../../contract/index.ts";
import { Shares } from "../../mechanisms/sessions/index.ts";
import type { SessionSlot } from "./session-slot.ts";

/** A spare may be a process: one client shall not fill the machine with them. */
const MAX_SPARES = 7;

type Create = (client: SessionRef, spareOf?: SessionSlot) => SessionSlot;

// Invariant: until all are closed `#shares` counts exactly what is in `all`.
export class ClientSlots {
  readonly #slots = new Map<string, SessionSlot>();
  /** Their clients are gone, but tasks or calls still run in them. */
  readonly #released = new Set<SessionSlot>();
  readonly #create: Create;
  readonly #clock: Clock;
  readonly #max: number;
  readonly #shares: Shares;

  constructor(options: { create: Create; clock: Clock; max: number }) {
    this.#create = options.create;
    this.#clock = options.clock;
    this.#max = options.max;
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
    const slot = this.#create(client);
    this.#slots.set(client.id, slot);
    this.#shares.take(principal);
    return slot;
  }

  /** One more slot beside a client's first; undefined when it, or all of them, have as many as they may have. */
  addSpare(first: SessionSlot): SessionSlot | undefined {
    const { client, spares } = first;
    if (!client || this.#slots.get(client.id) !== first || spares.length >= MAX_SPARES) return undefined;
    if (!this.#makeRoom(client.principal)) return undefined;
    const spare = this.#create(client, first);
    spares.push(spare);
    this.#shares.take(client.principal);
    return spare;
  }

  /** Closes the longest idle one if there are too many: the caller's own, where its share is spent. False: all are in use. */
  #makeRoom(principal: Principal): boolean {
    const all = this.all;
    const spent = this.#shares.spent(principal);
    if (!spent && all.length < this.#max) return true;
    const isMeant = ({ client }: SessionSlot) => !spent || (client && this.#shares.isOf(spent, client.principal));
    const [longest] = all.filter((slot) => slot.isIdle && isMeant(slot)).sort((a, b) => a.lastUsed - b.lastUsed);
    if (!longest) return false;
    this.#remove(longest);
    void longest.close();
    return true;
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
   * process: what runs here can reach it no more. False: it had none.
   */
  release(session: string, reason: Departure): boolean {
    const slot = this.#slots.get(session);
    if (!slot) return false;
    this.#slots.delete(session);
    if (reason === "ended") slot.subscriptions.dropSession(session);
    for (const one of [slot, ...slot.spares.splice(0)]) {
      if (reason !== "moved" && !one.isIdle) {
        this.#released.add(one);
        continue;
      }
      this.#giveBack(one);
      void one.close(reason === "moved");
    }
    return true;
  }

  /** Closes what was not used for `idleMs`, and what was released and has ended since. */
  sweep(idleMs: number): void {
    const now = this.#clock.now();
    const all = this.all;
    for (const slot of all) slot.tasks.sweep(now);
    for (const slot of all.filter((one) => one.isIdle)) {
      const isFirst = this.#slots.get(slot.client?.id ?? "") === slot;
      const isLeft = now - slot.lastUsed >= idleMs;
      if (isFirst && slot.ready && isLeft) void slot.sleep();
      else if (this.#released.has(slot) || (!isFirst && isLeft)) {
        this.#remove(slot);
        void slot.close();
      }
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map((slot) => slot.close()));
    this.#slots.clear();
    this.#released.clear();
  }
}
