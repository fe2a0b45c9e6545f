/**
 * How many child processes of one server run for its clients, and how fast new ones are started: bounded, by caller too. A
 * session is over when somebody says so, and its process may need seconds to end: what is counted here are processes.
 */
import { type Clock, GatewayError, type Principal, type Timer, type Timers } from "../../contract/index.ts";
import { Shares, Turns } from "../../mechanisms/sessions/index.ts";
import { UpstreamFault } from "./transport.ts";

/** Longer than a server that ignores every wish to end has until it is killed. */
const PATIENCE_MS = 10_000;

/** The place of one process. */
export interface ChildPlace {
  /** Undefined: it may start now. Rejects with UpstreamFault when there is no place in time. */
  readonly free: Promise<void> | undefined;
  /** Nothing of the process runs any more, or it is not to start after all. Safe to call twice. */
  leave(): void;
}

type Waiting = { readonly principal: Principal; enter(): void };

// Invariants:
//  1. `#count`, and `#shares`, are exactly the places whose processes run, or are about to start.
//  2. `#timer` is set only while somebody waits.
export class ChildPlaces {
  readonly #most: number;
  readonly #timers: Timers;
  readonly #shares: Shares;
  readonly #turns: Turns;
  readonly #waiting = new Set<Waiting>();
  #count = 0;
  #timer: Timer | undefined;

  constructor({ most, clock, timers }: { readonly most: number; readonly clock: Clock; readonly timers: Timers }) {
    this.#most = most;
    this.#timers = timers;
    this.#shares = new Shares(most);
    this.#turns = new Turns(this.#shares, clock);
  }

  take(principal: Principal): ChildPlace {
    if (this.#waiting.size > 0 || !this.#mayEnter(principal)) return this.#waitFor(principal);
    this.#enter(principal);
    return { free: undefined, leave: once(() => this.#leave(principal)) };
  }

  #waitFor(principal: Principal): ChildPlace {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    promise.catch(() => undefined);
    const give = (fault: UpstreamFault) => {
      if (this.#waiting.delete(waiting)) reject(fault);
      patience.cancel();
    };
    const patience = this.#timers.after(PATIENCE_MS, () => give(tooMany()));
    let hasEntered = false;
    const waiting: Waiting = {
      principal,
      enter: () => {
        hasEntered = true;
        patience.cancel();
        resolve();
      },
    };
    this.#waiting.add(waiting);
    this.#look();
    const leave = () => (hasEntered ? this.#leave(principal) : give(closed()));
    return { free: promise, leave: once(leave) };
  }

  #mayEnter(principal: Principal): boolean {
    return this.#hasRoom(principal) && this.#turns.waitMs(principal) === 0;
  }

  #hasRoom(principal: Principal): boolean {
    return this.#count < this.#most && !this.#shares.isSpent(principal);
  }

  #enter(principal: Principal): void {
    this.#count++;
    this.#shares.take(principal);
    this.#turns.take(principal);
  }

  #leave(principal: Principal): void {
    this.#count--;
    this.#shares.giveBack(principal);
    this.#look();
  }

  /** Lets in whoever may start now, the longest waiting first; whoever only waits for a turn is looked at again. */
  #look(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    let nextMs = Number.POSITIVE_INFINITY;
    for (const waiting of this.#waiting) {
      const { principal } = waiting;
      if (!this.#hasRoom(principal)) continue;
      const waitMs = this.#turns.waitMs(principal);
      nextMs = Math.min(nextMs, waitMs === 0 ? nextMs : waitMs);
      if (waitMs > 0) continue;
      this.#waiting.delete(waiting);
      this.#enter(principal);
      waiting.enter();
    }
    if (this.#waiting.size > 0 && nextMs !== Number.POSITIVE_INFINITY)
      this.#timer = this.#timers.after(Math.ceil(nextMs), () => this.#look());
  }
}

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    act();
  };
}

function closed(): UpstreamFault {
  return new UpstreamFault({ kind: "unreachable", message: "The session was closed." });
}

function tooMany(): UpstreamFault {
  const message =
    "This caller has as many processes of the server as it may have, or starts them too fast. Try again in a few seconds, and end sessions that are not needed.";
  const error = new GatewayError("OVERLOADED", { message, details: { retryAfterMs: PATIENCE_MS } });
  return new UpstreamFault({ kind: "full", message, error });
}
