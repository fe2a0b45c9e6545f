/**
 * Calls that are made once, however often they are asked for and in whichever process. A call that runs is waited for; one
 * whose process is gone is never made again.
 */
import {
  type Admission,
  type Admitted,
  type CallLedger,
  type Channel,
  type Clock,
  faultPoint,
  GatewayError,
  limitedError,
  type Principal,
  type Timers,
} from "../../contract/index.ts";
import { type EndOrError, readEnd, writeEnd } from "./call-end.ts";
import { type CrowdedRooms, roomsOf } from "./kept-rooms.ts";

/** How long an answer is kept. */
export const ONCE_TTL_MS = 24 * 60 * 60_000;
const MAX_ANSWER = 1024 * 1024;
/** Words of other processes may be lost: of those who wait for a call, one looks for itself. */
const LOOK_AGAIN_MS = 500;
/** So many repeats of a call wait for it in a process. */
const MOST_WAITING = 16;
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 30_000;

export type NamedCallsOptions = {
  readonly calls: Pick<CallLedger, "admit" | "settle">;
  readonly channel: Channel;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly crowded?: CrowdedRooms | undefined;
};

/** What a call that is asked for again has to wait for. */
export type Waiting = { readonly signal: AbortSignal; readonly deadline: number };

type Decided = Exclude<Admitted, { type: "running" }>;

type Named = Admission & { readonly once: NonNullable<Admission["once"]> };

/** What of a call is over; `slots`: the places that it gives back with that. */
type Settled = Pick<Named, "call" | "member" | "once" | "slots"> & {
  readonly session?: string | undefined;
  /** Whose it was. */
  readonly principal?: Principal;
};

/** The repeats of one call, in the order in which they came: the first one looks whether it is over. */
type Repeats = { readonly bells: Set<Bell>; readonly heard: Promise<(() => Promise<void>) | undefined> };

export class NamedCalls {
  readonly #options: NamedCallsOptions;
  /** By key. */
  readonly #repeats = new Map<string, Repeats>();

  constructor(options: NamedCallsOptions) {
    this.#options = options;
  }

  /** The answer that it had before; undefined: it is to be made now, and settled. Rejects with why it is not. */
  async admit(admission: Named, waiting: Waiting): Promise<EndOrError | undefined> {
    const decided = await this.#decide(admission, waiting);
    if (decided.type === "lost") throw lost();
    if (decided.type === "mismatch") throw mismatch();
    if (decided.type === "limited") throw limitedError(decided);
    return decided.type === "done" ? readEnd(decided.answer) : undefined;
  }

  async #decide(admission: Named, waiting: Waiting): Promise<Decided> {
    const admitted = await this.#ask(admission);
    return admitted.type === "running" ? await this.#whenDecided(admission, waiting) : admitted;
  }

  async #ask(admission: Named): Promise<Admitted> {
    faultPoint("ledger.admit.before");
    try {
      const admitted = await this.#options.calls.admit(admission);
      faultPoint("ledger.admit.after");
      return admitted;
    } catch (error) {
      // It may have been admitted all the same: nobody shall wait for a call that is not made.
      void this.settle(admission, undefined);
      throw error;
    }
  }

  /** Somebody makes it: waits until that is over. Rejects with OVERLOADED where enough do. */
  async #whenDecided(admission: Named, waiting: Waiting): Promise<Decided> {
    const { key } = admission.once;
    const bell = new Bell(this.#options, waiting);
    const repeats = this.#join(key, bell);
    try {
      await repeats.heard;
      for (;;) {
        const admitted = await this.#ask(admission);
        if (admitted.type !== "running") return admitted;
        await bell.rung(() => isFirst(repeats, bell));
      }
    } finally {
      this.#leave(key, repeats, bell);
    }
  }

  #join(key: string, bell: Bell): Repeats {
    const known = this.#repeats.get(key);
    if (known && known.bells.size >= MOST_WAITING) throw crowded();
    const bells = known?.bells ?? new Set<Bell>();
    bells.add(bell);
    if (known) return known;
    const hear = () => ringAll(bells);
    const repeats = { bells, heard: this.#options.channel.subscribe(topicOf(key), hear).catch(() => undefined) };
    this.#repeats.set(key, repeats);
    return repeats;
  }

  /** It has its answer, or wants none any more. If it was the first, the others look once more, and one of them goes on looking. */
  #leave(key: string, repeats: Repeats, bell: Bell): void {
    const wasFirst = isFirst(repeats, bell);
    repeats.bells.delete(bell);
    if (wasFirst) ringAll(repeats.bells);
    if (repeats.bells.size > 0) return;
    this.#repeats.delete(key);
    void repeats.heard.then((stop) => stop?.()).catch(() => undefined);
  }

  /**
   * Keeps how it ended, or (undefined) forgets that it was asked for. Resolves when that is durable; where the store does
   * not take it, it is tried again behind the caller's back, who has a right to the answer all the same.
   */
  async settle({ call, session, once, member, slots, principal }: Settled, end: EndOrError | undefined): Promise<void> {
    const answer = end && answerText(end);
    const rooms = principal && roomsOf(principal);
    const kept = { key: once.key, ttlMs: once.ttlMs, ...(answer !== undefined && { answer, rooms }) };
    const settlement = { call, member, slots, ...(session !== undefined && { session }), once: kept };
    const attempt = async () => {
      faultPoint("ledger.settle.before");
      const full = await this.#options.calls.settle(settlement);
      if (full !== undefined && principal !== undefined) this.#options.crowded?.note(full, principal);
      faultPoint("ledger.settle.after");
      this.#options.channel.publish(topicOf(once.key), "");
    };
    await attempt().catch(() => this.#tryAgain(attempt, FIRST_RETRY_MS, this.#options.clock.now() + once.ttlMs));
  }

  #tryAgain(attempt: () => Promise<void>, afterMs: number, until: number): void {
    const { clock, timers } = this.#options;
    if (clock.now() >= until) return;
    timers.after(afterMs, () => {
      attempt().catch(() => this.#tryAgain(attempt, Math.min(afterMs * 2, LAST_RETRY_MS), until));
    });
  }
}

/** What repeats are answered with. */
function answerText(end: EndOrError): string {
  const text = writeEnd(end);
  if (text.length <= MAX_ANSWER) return text;
  const message = "The call was made and answered; its answer was larger than 1 MiB and was not kept.";
  return writeEnd({ type: "error", error: new GatewayError("CONFLICT", { message }) });
}

function lost(): GatewayError {
  const message = "The process that made this call is gone; whether the call took effect is not known.";
  return new GatewayError("OUTCOME_UNKNOWN", { message });
}

function crowded(): GatewayError {
  const message = `The call with this idempotency key runs, and ${MOST_WAITING} repeats wait for its answer already.`;
  return new GatewayError("OVERLOADED", { message });
}

function isFirst({ bells }: Repeats, bell: Bell): boolean {
  const [first] = bells;
  return first === bell;
}

function ringAll(bells: Iterable<Bell>): void {
  for (const bell of bells) bell.ring();
}

function mismatch(): GatewayError {
  const message = "This idempotency key was given to another call.";
  return new GatewayError("BAD_CALL", { message, details: { reason: "idempotency_mismatch" } });
}

function topicOf(key: string): string {
  return `once:${key}`;
}

/** Wakes whoever waits: when it is rung, and the one that looks after a while anyway. */
class Bell {
  readonly #options: NamedCallsOptions;
  readonly #waiting: Waiting;
  #wake: (() => void) | undefined;
  #isRung = false;

  constructor(options: NamedCallsOptions, waiting: Waiting) {
    this.#options = options;
    this.#waiting = waiting;
  }

  ring(): void {
    this.#isRung = true;
    this.#wake?.();
  }

  /** Rejects when whoever waits has no time left, or does not want to know any more. */
  async rung(looks: () => boolean): Promise<void> {
    const { signal, deadline } = this.#waiting;
    const leftMs = deadline - this.#options.clock.now();
    if (leftMs <= 0) throw new GatewayError("DEADLINE_PASSED");
    if (!this.#isRung && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const wake = () => {
          timer.cancel();
          signal.removeEventListener("abort", wake);
          this.#wake = undefined;
          resolve();
        };
        const timer = this.#options.timers.after(looks() ? Math.min(LOOK_AGAIN_MS, leftMs) : leftMs, wake);
        signal.addEventListener("abort", wake);
        this.#wake = wake;
      });
    }
    this.#isRung = false;
    if (signal.aborted) throw signal.reason;
  }
}
