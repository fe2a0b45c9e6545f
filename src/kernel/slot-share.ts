/**
 * What somebody has of the slots of a provider: a caller, a user with all tokens, a tenant with all users. They stand in each
 * other, so that nobody gets more by coming under several names.
 *
 * Invariant: `running` and `waiting` are the sums over those within; `inLine` has exactly those within that have somebody
 * waiting, the one whose turn was longest ago first.
 */
import type { GatewayError } from "../contract/index.ts";

export type Waiter = { readonly grant: () => void; readonly refuse: (error: GatewayError) => void };

export class SlotShare {
  readonly within = new Map<string, SlotShare>();
  readonly inLine = new Set<SlotShare>();
  /** Calls of a caller that wait; those of others wait within. */
  readonly waiters = new Set<Waiter>();
  readonly parent: SlotShare | undefined;
  /** So many run at most, also of what is lent. */
  readonly most: number;
  running = 0;
  waiting = 0;

  constructor(parent: SlotShare | undefined, most: number) {
    this.parent = parent;
    this.most = most;
  }

  get isUnused(): boolean {
    return this.running === 0 && this.waiting === 0;
  }

  /** Whether one more may run, for all in whom this one stands. */
  get mayRun(): boolean {
    for (let share: SlotShare | undefined = this; share; share = share.parent)
      if (share.running >= share.most) return false;
    return true;
  }

  run(change: 1 | -1): void {
    for (let share: SlotShare | undefined = this; share; share = share.parent) share.running += change;
  }

  wait(waiter: Waiter): void {
    this.waiters.add(waiter);
    for (let share: SlotShare | undefined = this; share; share = share.parent) {
      share.waiting++;
      share.parent?.inLine.add(share);
    }
  }

  /** Safe to call twice. */
  leave(waiter: Waiter): void {
    if (!this.waiters.delete(waiter)) return;
    for (let share: SlotShare | undefined = this; share; share = share.parent) {
      share.waiting--;
      if (share.waiting === 0) share.parent?.inLine.delete(share);
    }
  }

  /** Its turn is over: those that have as many running come before it now. */
  passTurn(): void {
    for (let share: SlotShare | undefined = this; share; share = share.parent)
      if (share.parent?.inLine.delete(share)) share.parent.inLine.add(share);
  }

  /** The caller whose call goes next: of the tenant that has the fewest running, the user, and of that one the caller. */
  next(): SlotShare | undefined {
    if (this.waiters.size > 0) return this;
    let fewest: SlotShare | undefined;
    let found: SlotShare | undefined;
    for (const share of this.inLine) {
      if (share.running >= (fewest?.running ?? share.most) || share.running >= share.most) continue;
      const caller = share.next();
      if (caller) [fewest, found] = [share, caller];
    }
    return found;
  }

  /** The one within that has most waiting; itself where it is a caller. */
  longest(): SlotShare {
    let longest: SlotShare | undefined;
    for (const share of this.inLine) if (share.waiting > (longest?.waiting ?? 0)) longest = share;
    return longest?.longest() ?? this;
  }

  /** Makes the callers forgotten who have nothing. Returns how many are left. */
  forgetUnused(): number {
    let left = this.within.size === 0 ? 1 : 0;
    for (const [key, share] of this.within) {
      if (share.isUnused) this.within.delete(key);
      else left += share.forgetUnused();
    }
    return left;
  }
}
