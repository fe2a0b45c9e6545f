/**
 * This process among the others: it holds a lease in shared state and renews it. Others may take what is ours once the lease
 * is over, so we must know of that no later than they do: our clock counts from before a renewal was sent, the store's from
 * when it came.
 *
 * Alone (`isAlone`, with a store inside this process) there is nobody who could take anything, and the leases of such a
 * store end with the process: ours has no other end, so that a process which was slow or stopped simply goes on.
 */
import { randomUUID } from "node:crypto";
import {
  type Clock,
  faultPoint,
  GatewayError,
  type Log,
  type Member,
  type Meter,
  type SharedState,
  type Timer,
  type Timers,
} from "../../contract/index.ts";
import { Listeners } from "./listeners.ts";

export type MembershipOptions = {
  readonly state: SharedState;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly meter: Meter;
  /** Where the others reach us, as host:port; "" where they cannot. */
  readonly address: string;
  /** Default 15 s. */
  readonly leaseMs?: number;
  /** The store lives and dies with this process, so that there are no others. */
  readonly isAlone?: boolean;
};

export interface OwnMembership {
  readonly leaseMs: number;
  /** Who we are; another one after each loss. */
  readonly self: Member;
  /** Whether what we own is ours for certain. Costs one look at the clock. */
  isValid(): boolean;
  /**
   * False from the end of the lease until the listeners of `onLost` have closed what there was. What is opened after that
   * may be written to: to say that we cannot serve, for one.
   */
  mayWrite(): boolean;
  /** Told before anything is written under another id: close all sockets, forget whatever others may have taken. */
  onLost(listener: () => void): () => void;
  /** Told whenever a lease has begun. */
  onJoined(listener: (self: Member) => void): () => void;
  /** Joins. Rejects with STATE_UNAVAILABLE; may be called again then. */
  open(): Promise<void>;
  /** Gives up the lease, for good. Safe to call twice. */
  leave(): Promise<void>;
}

const LEASE_MS = 15_000;
const FOREVER_MS = 100 * 365 * 24 * 60 * 60 * 1000;
/** Renewals, or attempts while the store is away, in a lease. */
const RENEWALS = 3;
const ATTEMPTS = 10;

/** Does nothing until it is opened. */
export function createMembership(options: MembershipOptions): OwnMembership {
  return new ClusterMember(options);
}

// Invariants:
//  1. "member": a lease began under `#self.id`; `#expiry` is set, and `#beat` unless a renewal is under way. Alone: neither.
//  2. "outside": there is no lease, and everybody was told so. Attempts to join are under way unless `open` failed.
//  3. An id that was given to `join` is never given to it again.
class ClusterMember implements OwnMembership {
  readonly leaseMs: number;
  readonly #options: MembershipOptions;
  readonly #isAlone: boolean;
  readonly #lost: Listeners<void>;
  readonly #joined: Listeners<Member>;
  #self: Member;
  #state: "outside" | "member" | "left" = "outside";
  #validUntil = 0;
  #isLosing = false;
  #isJoining = false;
  #beat: Timer | undefined;
  #expiry: Timer | undefined;
  #stopHearing: (() => void) | undefined;

  constructor(options: MembershipOptions) {
    this.#options = options;
    this.leaseMs = options.leaseMs ?? LEASE_MS;
    this.#isAlone = options.isAlone ?? false;
    this.#lost = new Listeners(options.log);
    this.#joined = new Listeners(options.log);
    this.#self = this.#newSelf();
  }

  get self(): Member {
    return this.#self;
  }

  isValid(): boolean {
    return this.#state === "member" && this.#isInTime();
  }

  mayWrite(): boolean {
    if (this.#state !== "member" || this.#isInTime()) return true;
    // Not here and now: whoever asks stands in the middle of something.
    if (!this.#isLosing) {
      this.#isLosing = true;
      queueMicrotask(() => this.#lose("late"));
    }
    return false;
  }

  onLost(listener: () => void): () => void {
    return this.#lost.add(listener);
  }

  onJoined(listener: (self: Member) => void): () => void {
    return this.#joined.add(listener);
  }

  async open(): Promise<void> {
    if (this.#state !== "outside") return;
    if (await this.#join()) return;
    throw new GatewayError("STATE_UNAVAILABLE", { message: "The lease could not be begun in time." });
  }

  async leave(): Promise<void> {
    const { state, log } = this.#options;
    const wasMember = this.#state === "member";
    this.#state = "left";
    this.#stop();
    if (!wasMember) return;
    try {
      faultPoint("cluster.leave.before");
      await state.members.leave(this.#self.id);
      faultPoint("cluster.leave.after");
    } catch (cause) {
      log.warn("membership not given up", { member: this.#self.id, cause });
    }
  }

  #newSelf(): Member {
    return { id: randomUUID(), address: this.#options.address };
  }

  #isInTime(): boolean {
    return this.#isAlone || this.#options.clock.now() < this.#validUntil;
  }

  /** False: the store answered too late to be believed. Throws what the store says. */
  async #join(): Promise<boolean> {
    const { state, clock } = this.#options;
    // The last attempt may have taken effect although it failed: its id is used up.
    const self = this.#newSelf();
    this.#self = self;
    const began = clock.now();
    faultPoint("cluster.join.before");
    await state.members.join(self, this.#isAlone ? FOREVER_MS : this.leaseMs);
    faultPoint("cluster.join.after");
    this.#validUntil = began + this.leaseMs;
    if (this.#state === "left" || !this.#isInTime()) {
      this.#abandon(self.id);
      return false;
    }
    this.#state = "member";
    this.#isLosing = false;
    this.#options.log.info("joined", { member: self.id, address: self.address });
    this.#stop();
    if (!this.#isAlone) this.#schedule(this.leaseMs / RENEWALS);
    this.#joined.tell(self);
    return true;
  }

  #schedule(ms: number): void {
    const { timers, clock } = this.#options;
    this.#beat = timers.after(ms, () => void this.#renew());
    this.#expiry?.cancel();
    this.#expiry = timers.after(this.#validUntil - clock.now(), () => this.#lose("late"));
  }

  async #renew(): Promise<void> {
    const { state, clock, log } = this.#options;
    if (!this.#isInTime()) return this.#lose("late");
    const { id } = this.#self;
    const began = clock.now();
    let isOurs = true;
    let isRenewed = false;
    try {
      faultPoint("cluster.renew.before");
      isOurs = await state.members.renew(id, this.leaseMs);
      faultPoint("cluster.renew.after");
      isRenewed = isOurs;
    } catch (cause) {
      log.debug("lease not renewed", { member: id, cause });
    }
    if (this.#state !== "member" || this.#self.id !== id) return;
    if (!isOurs) return this.#lose("taken");
    if (isRenewed) this.#validUntil = began + this.leaseMs;
    this.#schedule(this.leaseMs / (isRenewed ? RENEWALS : ATTEMPTS));
  }

  #lose(reason: "late" | "taken"): void {
    if (this.#state !== "member") return;
    const { log, meter } = this.#options;
    const { id } = this.#self;
    this.#stop();
    this.#validUntil = 0;
    this.#lost.tell();
    this.#state = "outside";
    log.warn("membership lost", { member: id, reason });
    meter.count("isthmus_memberships_lost_total", reason);
    // Where the store still believes in it, the others need not wait for its end.
    this.#abandon(id);
    void this.#rejoin();
  }

  async #rejoin(): Promise<void> {
    if (this.#state !== "outside" || this.#isJoining) return;
    const { state, timers, log } = this.#options;
    this.#beat?.cancel();
    this.#isJoining = true;
    let isJoined = false;
    try {
      isJoined = await this.#join();
    } catch (cause) {
      log.debug("not joined", { cause });
    }
    this.#isJoining = false;
    if (isJoined || this.#state !== "outside") return;
    this.#stopHearing ??= state.onHealth((isUp) => {
      if (isUp) void this.#rejoin();
    });
    this.#beat = timers.after(this.leaseMs / ATTEMPTS, () => void this.#rejoin());
  }

  #abandon(id: string): void {
    this.#options.state.members.leave(id).catch(() => {}); // it ends by itself, only later
  }

  #stop(): void {
    this.#beat?.cancel();
    this.#expiry?.cancel();
    this.#stopHearing?.();
    this.#stopHearing = undefined;
  }
}
