/**
 * On a pipe, and on the GET stream of HTTP, nothing says in which call a server of the 2025 era asks. Clients of that era
 * can be asked outside any call, those of 2026-07-28 only inside the right one. So a call of theirs that is asked this way
 * has its session to itself until it ends; and from its beginning, if the same target has asked before.
 *
 * Invariants:
 *  1. A slot is let to one call at most, and no other call that could be asked starts there until that is over.
 *  2. Until the server asks for the first time nothing is let, and calls pay nothing.
 *  3. Whatever waits here is gone when its call is settled.
 */
import type { Call, Timers } from "../../contract/index.ts";
import { Askers } from "./askers.ts";
import { isModern } from "./modern/modern-side.ts";
import type { RunningCall } from "./running-call.ts";
import type { SessionSlot } from "./session-slot.ts";
import { type Claim, Undecided } from "./undecided.ts";
import type { SessionContext, UpstreamSession } from "./upstream-session.ts";

type Start = (slot: SessionSlot, running: RunningCall) => void;

type Lease = {
  readonly running: RunningCall;
  readonly slot: SessionContext;
  /** Where it has asked; undefined until it does. */
  session: UpstreamSession | undefined;
  isCancelled: boolean;
};

export type LeaseOptions = {
  readonly timers: Timers;
  /** Another slot for the client of this one; undefined when there are as many as there may be. */
  addSpare(first: SessionSlot): SessionSlot | undefined;
};

const ASKING_VERBS: readonly string[] = ["call", "get", "read"];

export class Leases {
  /** The server has asked where no stream tells which call it means. */
  isActive = false;
  readonly #options: LeaseOptions;
  readonly #askers = new Askers();
  readonly #undecided: Undecided;
  readonly #bySlot = new Map<SessionContext, Lease>();
  readonly #byCall = new Map<RunningCall, Lease>();
  readonly #waiting = new Map<RunningCall, { readonly first: SessionSlot; readonly start: Start }>();

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#undecided = new Undecided(options.timers);
  }

  /** Starts a call where its questions can be told from those of others: now, or as soon as there is such a slot. */
  place(running: RunningCall, first: SessionSlot, start: Start): void {
    const { call } = running;
    if (!mayBeAsked(call, first)) return start(first, running);
    const hasAsked = this.#askers.has(call);
    const slot = this.#findSlot(first, hasAsked) ?? this.#addSpare(first);
    if (!slot) return void this.#waiting.set(running, { first, start });
    this.#waiting.delete(running);
    if (hasAsked) this.#lease({ running, slot, session: undefined, isCancelled: false });
    start(slot, running);
  }

  /** What a server keeps per session it keeps with the first: spares only take what the first cannot. */
  #findSlot(first: SessionSlot, hasAsked: boolean): SessionSlot | undefined {
    const mayStart = (slot: SessionSlot) =>
      !this.#bySlot.has(slot) && !this.#undecided.has(slot) && (!hasAsked || slot.isUnused);
    return mayStart(first) ? first : first.spares.find(mayStart);
  }

  /** None where a session will be free in a moment: only the server's word that it has heard of a cancel is missing. */
  #addSpare(first: SessionSlot): SessionSlot | undefined {
    const isLeaving = (slot: SessionSlot) => this.#bySlot.get(slot)?.running.isSettled === true;
    return isLeaving(first) || first.spares.some(isLeaving) ? undefined : this.#options.addSpare(first);
  }

  #lease(lease: Lease): void {
    this.isActive = true;
    this.#bySlot.set(lease.slot, lease);
    this.#byCall.set(lease.running, lease);
  }

  /** Finds out whose question it is that came on no call's stream. */
  decide(session: UpstreamSession, claim: Claim): void {
    const slot = session.context;
    const lease = this.#bySlot.get(slot);
    const calls = session.callsInFlight();
    const [only, ...others] = calls;
    // It was cancelled, and the server had not yet heard of that when it asked.
    if (lease?.running.isSettled) claim(undefined);
    else if (lease && calls.includes(lease.running)) this.#claim(lease.running, session, claim);
    else if (!only || !slot.client || !isModern(only.call)) claim(others.length > 0 ? undefined : only);
    else if (others.length === 0) this.#claim(only, session, claim);
    else this.#defer(calls, session, claim);
  }

  #claim(running: RunningCall, session: UpstreamSession, claim: Claim): void {
    this.#onAsker(running, session);
    claim(running);
  }

  #defer(calls: readonly RunningCall[], session: UpstreamSession, claim: Claim): void {
    this.isActive = true;
    for (const { call } of calls) this.#askers.suspect(call);
    this.#undecided.add(session, claim);
  }

  readonly #onAsker = (running: RunningCall, session: UpstreamSession): void => {
    const slot = session.context;
    const lease = this.#bySlot.get(slot);
    this.#askers.learn(running.call);
    // A session that the slot has left is nobody's any more.
    if (!lease) this.#lease({ running, slot, session, isCancelled: false });
    else if (lease.running === running) lease.session = session;
  };

  /** The call will be settled by a cancel: the server may go on with it for a while. */
  cancelling(running: RunningCall): void {
    const lease = this.#byCall.get(running);
    if (lease) lease.isCancelled = true;
  }

  /** The call is over. */
  settled(running: RunningCall): void {
    this.#waiting.delete(running);
    const lease = this.#byCall.get(running);
    if (lease) this.#end(lease);
    this.#undecided.review(this.#onAsker);
    if (this.#waiting.size > 0) this.#wake();
  }

  #end(lease: Lease): void {
    const { running, session, isCancelled } = lease;
    this.#byCall.delete(running);
    if (!session && !isCancelled) this.#askers.acquit(running.call);
    if (!session || !isCancelled) this.#bySlot.delete(lease.slot);
    // What was asked before the server answers this may still belong to the cancelled call.
    else
      void session.isKnown().then(() => {
        this.#bySlot.delete(lease.slot);
        this.#wake();
      });
  }

  #wake(): void {
    for (const [running, { first, start }] of [...this.#waiting]) this.place(running, first, start);
  }
}

/** Whether a call must be kept apart from others: the era of its client and its method allow questions only inside it. */
function mayBeAsked(call: Call, slot: SessionSlot): boolean {
  if (!slot.client?.canBeAsked || slot.ready?.modern || call.resumes !== undefined) return false;
  return isModern(call) && ASKING_VERBS.includes(call.verb);
}
