/** The slots of clients that have an upstream session of their own: bounded, and given back when nobody uses them. */
import { type Clock, GatewayError, type SessionRef } from "../../contract/index.ts";
import type { SessionSlot } from "./session-slot.ts";

export class ClientSlots {
  readonly #slots = new Map<string, SessionSlot>();
  /** Their clients are gone, but tasks or calls still run in them. */
  readonly #released = new Set<SessionSlot>();
  readonly #create: (client: SessionRef) => SessionSlot;
  readonly #clock: Clock;
  readonly #max: number;

  constructor(options: { create: (client: SessionRef) => SessionSlot; clock: Clock; max: number }) {
    this.#create = options.create;
    this.#clock = options.clock;
    this.#max = options.max;
  }

  /** How many of them have a session now. */
  get openCount(): number {
    return [...this.#slots.values(), ...this.#released].filter((slot) => slot.ready !== undefined).length;
  }

  get(session: string): SessionSlot | undefined {
    return this.#slots.get(session);
  }

  /** Throws OVERLOADED when there are too many and all of them are in use. */
  take(client: SessionRef): SessionSlot {
    const existing = this.#slots.get(client.id);
    if (existing) return existing;
    if (this.#slots.size + this.#released.size >= this.#max) this.#evict();
    const slot = this.#create(client);
    this.#slots.set(client.id, slot);
    return slot;
  }

  #evict(): void {
    let longest: [string, SessionSlot] | undefined;
    for (const entry of this.#slots)
      if (entry[1].isIdle && (!longest || entry[1].lastUsed < longest[1].lastUsed)) longest = entry;
    if (!longest) throw new GatewayError("OVERLOADED", { message: "The server has as many sessions as it may have." });
    this.#slots.delete(longest[0]);
    void longest[1].close();
  }

  /** The client is gone: its session is closed as soon as nothing runs in it. False: it had none. */
  release(session: string): boolean {
    const slot = this.#slots.get(session);
    if (!slot) return false;
    this.#slots.delete(session);
    slot.subscriptions.dropSession(session);
    if (slot.isIdle) void slot.close();
    else this.#released.add(slot);
    return true;
  }

  /** Closes what was not used for `idleMs`, and what was released and has ended since. */
  sweep(idleMs: number): void {
    const now = this.#clock.now();
    for (const slot of [...this.#slots.values(), ...this.#released]) slot.tasks.sweep(now);
    for (const slot of this.#slots.values())
      if (slot.ready && slot.isIdle && now - slot.lastUsed >= idleMs) void slot.sleep();
    for (const slot of this.#released) {
      if (!slot.isIdle) continue;
      this.#released.delete(slot);
      void slot.close();
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#slots.values(), ...this.#released].map((slot) => slot.close()));
    this.#slots.clear();
    this.#released.clear();
  }
}
