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
  type Timers,
} from "../../contract/index.ts";
import { type EndOrError, readEnd, writeEnd } from "./call-end.ts";

/** How long an answer is kept. */
export const ONCE_TTL_MS = 24 * 60 * 60_000;
const MAX_ANSWER = 1024 * 1024;
/** Words of other processes may be lost: whoever waits looks for itself. */
const LOOK_AGAIN_MS = 500;
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 30_000;

export type NamedCallsOptions = {
  readonly calls: CallLedger;
  readonly channel: Channel;
  readonly clock: Clock;
  readonly timers: Timers;
};

/** What a call that is asked for again has to wait for. */
export type Waiting = { readonly signal: AbortSignal; readonly deadline: number };

type Decided = Exclude<Admitted, { type: "running" }>;

type Named = Admission & { readonly once: NonNullable<Admission["once"]> };

export class NamedCalls {
  readonly #options: NamedCallsOptions;

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

  /** Somebody makes it: waits until that is over. */
  async #whenDecided(admission: Named, waiting: Waiting): Promise<Decided> {
    const bell = new Bell(this.#options, waiting);
    const hear = () => bell.ring();
    const stop = await this.#options.channel.subscribe(topicOf(admission.once.key), hear).catch(() => undefined);
    try {
      for (;;) {
        const admitted = await this.#ask(admission);
        if (admitted.type !== "running") return admitted;
        await bell.rung();
      }
    } finally {
      stop?.().catch(() => undefined);
    }
  }

  /**
   * Keeps how it ended, or (undefined) forgets that it was asked for. Resolves when that is durable; where the store does
   * not take it, it is tried again behind the caller's back, who has a right to the answer all the same.
   */
  async settle({ call, session, once, member, slots }: Named, end: EndOrError | undefined): Promise<void> {
    const answer = end && answerText(end);
    const kept = { key: once.key, ttlMs: once.ttlMs, ...(answer !== undefined && { answer }) };
    const settlement = { call, member, slots, ...(session !== undefined && { session }), once: kept };
    const attempt = async () => {
      faultPoint("ledger.settle.before");
      await this.#options.calls.settle(settlement);
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

function mismatch(): GatewayError {
  const message = "This idempotency key was given to another call.";
  return new GatewayError("BAD_CALL", { message, details: { reason: "idempotency_mismatch" } });
}

function topicOf(key: string): string {
  return `once:${key}`;
}

/** Wakes whoever waits: when it is rung, and after a while anyway. */
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
  async rung(): Promise<void> {
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
        const timer = this.#options.timers.after(Math.min(LOOK_AGAIN_MS, leftMs), wake);
        signal.addEventListener("abort", wake);
        this.#wake = wake;
      });
    }
    this.#isRung = false;
    if (signal.aborted) throw signal.reason;
  }
}
