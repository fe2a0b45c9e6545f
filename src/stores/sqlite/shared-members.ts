import type { Clock, Member, Membership } from "../../contract/index.ts";

/**
 * The leases of the one process that has the file. They end with it: members of an earlier process are gone, because it
 * could not be open here otherwise.
 */
export class SqliteMembers implements Membership {
  readonly #clock: Clock;
  readonly #leases = new Map<string, { readonly member: Member; until: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The member where its lease is alive. */
  alive(id: string): Member | undefined {
    const lease = this.#leases.get(id);
    return lease !== undefined && lease.until > this.#clock.now() ? lease.member : undefined;
  }

  async join(member: Member, leaseMs: number): Promise<void> {
    for (const id of this.#leases.keys()) if (this.alive(id) === undefined) this.#leases.delete(id);
    this.#leases.set(member.id, { member, until: this.#clock.now() + leaseMs });
  }

  async renew(id: string, leaseMs: number): Promise<boolean> {
    const member = this.alive(id);
    if (member === undefined) return false;
    this.#leases.set(id, { member, until: this.#clock.now() + leaseMs });
    return true;
  }

  async leave(id: string): Promise<void> {
    this.#leases.delete(id);
  }

  async find(id: string): Promise<Member | undefined> {
    return this.alive(id);
  }

  async list(): Promise<readonly Member[]> {
    return [...this.#leases.values()].map(({ member }) => member).filter(({ id }) => this.alive(id) !== undefined);
  }
}
