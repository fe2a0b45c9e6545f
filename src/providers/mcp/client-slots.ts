/**
 * The slots of clients that have an upstream session of their own: bounded, and given back when nobody uses them. A client
 * has one slot, and spares beside it while calls need sessions to themselves.
 */
import { type Clock, type Departure, GatewayError, type SessionRef } from "../../contract/index.ts";
import type { SessionSlot } from "./session-slot.ts";

/** A spare may be a process: one client shall not fill the machine with them. */
const MAX_SPARES = 7;

type Create = (client: SessionRef, spareOf?: SessionSlot) => SessionSlot;

export class ClientSlots {
  readonly #slots = new Map<string, SessionSlot>();
  /** Their clients are gone, but tasks or calls still run in them. */
  readonly #released = new Set<SessionSlot>();
  readonly #create: Create;
  readonly #clock: Clock;
  readonly #max: number;

  constructor(options: { create: Create; clock: Clock; max: number }) {
    this.#create = options.create;
    this.#clock = options.clock;
    this.#max = options.max;
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

  /** Throws OVERLOADED when there are too many and all of them are in use. */
  take(client: SessionRef): SessionSlot {
    const existing = this.#slots.get(client.id);
    if (existing) return existing;
    if (!this.#makeRoom())
      throw new GatewayError("OVERLOADED", { message: "The server has as many sessions as it may have." });
    const slot = this.#create(client);
    this.#slots.set(client.id, slot);
    return slot;
  }

  /** One more slot beside a client's first; undefined when it, or all of them, have as many as they may have. */
  addSpare(first: SessionSlot): SessionSlot | undefined {
    const { client, spares } = first;
    if (!client || this.#slots.get(client.id) !== first || spares.length >= MAX_SPARES) return undefined;
    if (!this.#makeRoom()) return undefined;
    const spare = this.#create(client, first);
    spares.push(spare);
    return spare;
  }

  /** Closes the longest idle one if there are too many. False: all are in use. */
  #makeRoom(): boolean {
    const all = this.all;
    if (all.length < this.#max) return true;
    const [longest] = all.filter((slot) => slot.isIdle).sort((a, b) => a.lastUsed - b.lastUsed);
    if (!longest) return false;
    this.#remove(longest);
    void longest.close();
    return true;
  }

  #remove(slot: SessionSlot): void {
    const first = this.#slots.get(slot.client?.id ?? "");
    if (first === slot) this.#slots.delete(slot.client?.id ?? "");
    else first?.spares.splice(first.spares.indexOf(slot), 1);
    this.#released.delete(slot);
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
      if (reason === "moved") void one.close(true);
      else if (one.isIdle) void one.close();
      else this.#released.add(one);
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
