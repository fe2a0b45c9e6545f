/**
 * What clients say to their servers that no answer is owed for. Nobody waits for it, so it must keep no call waiting: of each caller
 * a few are on the way at once, and so many a second. What does not fit waits; what is too much is dropped, counted and logged.
 *
 * Invariants:
 *  1. `#sending` is the sum of `sending` of all callers, and at most MAX_SENDING.
 *  2. Who has said something stands behind who has not, so that callers take turns.
 */
import { type Clock, identityOf, type Log, type Meter, type SessionRef, type Timers } from "../../contract/index.ts";
import { RepeatedWarning } from "./repeated-warning.ts";

/** Of one server: far fewer than the sockets that its calls have. */
const MAX_SENDING = 32;
const MAX_SENDING_OF_CALLER = 8;
const MAX_WAITING_OF_CALLER = 256;
const AT_ONCE = 256;
const EACH_SECOND = 64;
const TURN_MS = 1000 / EACH_SECOND;
/** Callers who have all their turns again are forgotten beyond so many. */
const REMEMBERED = 1024;

type Say = () => Promise<unknown>;
type Share = { readonly waiting: Say[]; sending: number; turns: number; countedAt: number };

export class ClientNotices {
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #meter: Meter;
  readonly #tooMany: RepeatedWarning;
  readonly #callers = new Map<string, Share>();
  #sending = 0;
  #isTimed = false;

  constructor({ clock, timers, meter, log }: { clock: Clock; timers: Timers; meter: Meter; log: Log }) {
    this.#clock = clock;
    this.#timers = timers;
    this.#meter = meter;
    this.#tooMany = new RepeatedWarning(log, clock, "notifications of a caller dropped: they are too many");
  }

  /** `say` resolves when the server has taken it, or will not. */
  take(session: Pick<SessionRef, "id" | "principal">, say: Say): void {
    const share = this.#shareOf(callerOf(session));
    if (share.waiting.length < MAX_WAITING_OF_CALLER) {
      share.waiting.push(say);
      return this.#pump();
    }
    this.#meter.count("isthmus_notices_dropped_total", "too-many");
    this.#tooMany.note({ principal: session.principal.id });
  }

  #shareOf(caller: string): Share {
    const known = this.#callers.get(caller);
    if (known) return known;
    if (this.#callers.size >= REMEMBERED) this.#forgetRested();
    const share: Share = { waiting: [], sending: 0, turns: AT_ONCE, countedAt: this.#clock.now() };
    this.#callers.set(caller, share);
    return share;
  }

  /** One of each caller in turn, until nobody may send any more. */
  #pump(): void {
    for (let hasSent = true; hasSent; ) {
      hasSent = false;
      for (const [caller, share] of [...this.#callers]) {
        this.#refill(share);
        if (this.#sending >= MAX_SENDING || share.sending >= MAX_SENDING_OF_CALLER || share.turns < 1) continue;
        const say = share.waiting.shift();
        if (!say) continue;
        hasSent = true;
        this.#callers.delete(caller);
        this.#callers.set(caller, share);
        this.#send(share, say);
      }
    }
    this.#waitForTurns();
  }

  #send(share: Share, say: Say): void {
    share.turns--;
    share.sending++;
    this.#sending++;
    const done = () => {
      share.sending--;
      this.#sending--;
      this.#pump();
    };
    say().then(done, done);
  }

  #refill(share: Share): void {
    const now = this.#clock.now();
    share.turns = Math.min(AT_ONCE, share.turns + Math.max(0, now - share.countedAt) / TURN_MS);
    share.countedAt = now;
  }

  #forgetRested(): void {
    for (const [caller, share] of this.#callers) {
      this.#refill(share);
      const isRested = share.waiting.length === 0 && share.sending === 0 && share.turns >= AT_ONCE;
      if (isRested) this.#callers.delete(caller);
    }
  }

  /** Somebody waits for time, and not for the server. */
  #waitForTurns(): void {
    if (this.#isTimed || ![...this.#callers.values()].some(isOutOfTurns)) return;
    this.#isTimed = true;
    this.#timers.after(TURN_MS, () => {
      this.#isTimed = false;
      this.#pump();
    });
  }
}

function isOutOfTurns({ waiting, turns }: Share): boolean {
  return waiting.length > 0 && turns < 1;
}

/** All sessions and tokens of a user are one caller; where nobody was asked who they are, a session is. */
function callerOf({ id, principal }: Pick<SessionRef, "id" | "principal">): string {
  const { tenant, user, proof } = identityOf(principal);
  if (proof === "local" || proof === "none") return id;
  return user === "" ? principal.id : JSON.stringify([tenant, user]);
}
