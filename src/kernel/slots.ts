/**
 * How many calls a provider has at once. The rest waits, and whoever has the fewest calls running goes first: one caller
 * gets all slots as long as nobody else wants any, and not one more once somebody does. Those that have equally many take
 * turns, and the calls of one caller keep their order. Tenants are set against each other first, then the users of a tenant,
 * then the tokens of a user: whoever makes more of these gets no more slots, and no more places in the line.
 *
 * A call that its caller has left and that the provider may still work on is lent: it keeps nobody else from a slot, and it
 * counts as one of its caller's until it is freed. So no caller has more calls at the provider than there are slots, nor has
 * a user, nor a tenant other than the platform's own.
 *
 * Invariants:
 *  1. `#taken` is what runs without what is lent. While it is below the limit only those wait who have as many running as
 *     there are slots.
 */
import { DEFAULT_TENANT, GatewayError, type SharingCaller } from "../contract/index.ts";
import { SlotShare, type Waiter } from "./slot-share.ts";

/** Callers who have nothing are remembered up to here, so that a call costs no new record. */
const MIN_REMEMBERED = 256;

export class Slots {
  readonly #limit: number;
  readonly #maxWaiting: number;
  /** Of tenants, in which there are users, in which there are callers. */
  readonly #all = new SlotShare(undefined, Number.POSITIVE_INFINITY);
  #remembered = 0;
  /** Whose share was found last. */
  #last: { readonly caller: SharingCaller; readonly share: SlotShare } | undefined;
  #taken = 0;

  constructor(limit: number, maxWaiting = limit * 4) {
    this.#limit = limit;
    this.#maxWaiting = maxWaiting;
  }

  get taken(): number {
    return this.#taken;
  }

  /** A slot to be given back with `free`; undefined: there is none now. */
  tryTake(caller: SharingCaller): SlotShare | undefined {
    if (this.#taken >= this.#limit) return undefined;
    const share = this.#shareOf(caller);
    if (!share.mayRun) return undefined;
    this.#taken++;
    share.run(1);
    return share;
  }

  /** Resolves with a slot; rejects with OVERLOADED when there is no place in the line, or when the signal aborts. */
  take(caller: SharingCaller, signal: AbortSignal): Promise<SlotShare> {
    const taken = this.tryTake(caller);
    if (taken) return Promise.resolve(taken);
    const share = this.#shareOf(caller);
    if (this.#all.waiting >= this.#maxWaiting && !this.#makeRoom(share)) return Promise.reject(this.#full());
    return new Promise((resolve, reject) => {
      const leave = () => {
        signal.removeEventListener("abort", left);
        share.leave(waiter);
      };
      const left = () => waiter.refuse(GatewayError.from(signal.reason));
      const waiter: Waiter = {
        grant: () => {
          leave();
          this.#taken++;
          share.run(1);
          resolve(share);
        },
        refuse: (error) => {
          leave();
          reject(error);
        },
      };
      share.wait(waiter);
      if (signal.aborted) left();
      else signal.addEventListener("abort", left, { once: true });
    });
  }

  /**
   * The line is full: the tenant that has more waiting than the newcomer's would have gives up the place that came last; if
   * none has, such a user of the newcomer's tenant does, or such a token of its user.
   */
  #makeRoom(newcomer: SlotShare): boolean {
    const user = newcomer.parent as SlotShare;
    const tenant = user.parent as SlotShare;
    for (const share of [tenant, user, newcomer]) {
      let longest = share;
      for (const other of share.parent?.inLine ?? []) if (other.waiting > longest.waiting) longest = other;
      if (longest.waiting <= share.waiting + 1) continue;
      [...longest.longest().waiters].at(-1)?.refuse(this.#full());
      return true;
    }
    return false;
  }

  #full(): GatewayError {
    const message = `The provider has ${this.#limit} calls running and ${this.#maxWaiting} waiting.`;
    return new GatewayError("OVERLOADED", { message });
  }

  free(share: SlotShare): void {
    share.run(-1);
    this.#taken--;
    if (this.#all.waiting > 0) this.#fill();
  }

  /** Others may have the slot; for its caller the call runs on, until `freeLent`. */
  lend(): void {
    this.#taken--;
    this.#fill();
  }

  freeLent(share: SlotShare): void {
    share.run(-1);
    this.#fill();
  }

  #fill(): void {
    while (this.#taken < this.#limit) {
      const next = this.#all.next();
      const [waiter] = next?.waiters ?? [];
      if (!next || !waiter) return;
      next.passTurn();
      waiter.grant();
    }
  }

  #shareOf(caller: SharingCaller): SlotShare {
    const last = this.#last;
    const isSame =
      last?.caller.id === caller.id && last.caller.user === caller.user && last.caller.tenant === caller.tenant;
    if (isSame) return last.share;
    const share = this.#findShare(caller);
    this.#last = { caller, share };
    return share;
  }

  #findShare({ tenant, user, id }: SharingCaller): SlotShare {
    // A program of nobody's stands for itself; no user's name begins so.
    const users = user === "" ? `\0${id}` : user;
    const known = this.#all.within.get(tenant)?.within.get(users)?.within.get(id);
    if (known) return known;
    // At most the half of them is in use then: so this is done rarely.
    if (this.#remembered >= Math.max(MIN_REMEMBERED, 2 * (this.#limit + this.#maxWaiting)))
      this.#remembered = this.#all.forgetUnused();
    this.#remembered++;
    const ofTenant = shareIn(this.#all, tenant, tenant === DEFAULT_TENANT ? Number.POSITIVE_INFINITY : this.#limit);
    return shareIn(shareIn(ofTenant, users, this.#limit), id, this.#limit);
  }
}

function shareIn(parent: SlotShare, key: string, most: number): SlotShare {
  const share = parent.within.get(key) ?? new SlotShare(parent, most);
  parent.within.set(key, share);
  return share;
}
