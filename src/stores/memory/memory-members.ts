import type { Clock, Member, Membership } from "../../contract/index.ts";
import { ExpiringMap } from "./expiring-map.ts";

export class MemoryMembers implements Membership {
  readonly #members: ExpiringMap<Member>;

  constructor(clock: Clock) {
    this.#members = new ExpiringMap(clock);
  }

  /** The member where its lease is alive. */
  alive(id: string): Member | undefined {
    return this.#members.get(id);
  }

  async join(member: Member, leaseMs: number): Promise<void> {
    this.#members.set(member.id, member, leaseMs);
  }

  async renew(id: string, leaseMs: number): Promise<boolean> {
    const member = this.#members.get(id);
    if (member === undefined) return false;
    this.#members.set(id, member, leaseMs);
    return true;
  }

  async leave(id: string): Promise<void> {
    this.#members.delete(id);
  }

  async find(id: string): Promise<Member | undefined> {
    return this.#members.get(id);
  }

  async list(): Promise<readonly Member[]> {
    return this.#members.entries().map(([, member]) => member);
  }
}
