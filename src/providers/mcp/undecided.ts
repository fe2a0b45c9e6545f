import type { Timer, Timers } from "../../contract/index.ts";
import type { RunningCall } from "./running-call.ts";
import type { SessionContext, UpstreamSession } from "./upstream-session.ts";

/** How long a question waits: mostly the other calls end soon, and then it is clear who asked. */
const UNDECIDED_MS = 5000;
const MAX_QUESTIONS = 16;

/** Takes a question to the call that asked it; undefined: to nobody. */
export type Claim = (owner: RunningCall | undefined) => void;

type Entry = { readonly session: UpstreamSession; readonly claims: Claim[]; readonly timer: Timer };

/** Questions that any of several calls may have asked. They wait until all but one have ended, but not for long. */
export class Undecided {
  readonly #timers: Timers;
  readonly #entries = new Map<SessionContext, Entry>();

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  has(slot: SessionContext): boolean {
    return this.#entries.has(slot);
  }

  add(session: UpstreamSession, claim: Claim): void {
    const known = this.#entries.get(session.context);
    if (!known) {
      const timer = this.#timers.after(UNDECIDED_MS, () => this.#settle(session.context, undefined));
      this.#entries.set(session.context, { session, claims: [claim], timer });
    } else if (known.session === session && known.claims.length < MAX_QUESTIONS) known.claims.push(claim);
    else claim(undefined);
  }

  /** A call has ended: settles what is clear now. `onOwner` hears of each call that turns out to have asked. */
  review(onOwner: (owner: RunningCall, session: UpstreamSession) => void): void {
    for (const [slot, { session }] of this.#entries) {
      const [only, ...others] = session.callsInFlight();
      if (others.length > 0) continue;
      if (only) onOwner(only, session);
      this.#settle(slot, only);
    }
  }

  #settle(slot: SessionContext, owner: RunningCall | undefined): void {
    const entry = this.#entries.get(slot);
    this.#entries.delete(slot);
    entry?.timer.cancel();
    for (const claim of entry?.claims ?? []) claim(owner);
  }
}
