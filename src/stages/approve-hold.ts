/** Keeps the caller of one call waiting for what becomes of its approval, and lets it hear that it still waits. */
import {
  type Answer,
  type Approval,
  type Call,
  type Clock,
  jsonText,
  type Out,
  payload,
  type Timers,
} from "../contract/index.ts";
import type { ApprovalWatch, Waiting } from "../mechanisms/approvals/index.ts";

/** How often a caller that wants progress hears that the call still waits. */
const PROGRESS_MS = 10_000;
/** So little that whatever the tool reports is more. */
const PROGRESS_STEP = 1e-6;

export type HoldOptions = {
  readonly watch: ApprovalWatch;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Everybody's clock, in ms. */
  readonly now: () => number;
  /** How long a caller is kept waiting. */
  readonly holdMs: () => number;
};

export class Hold {
  /** How long the call may take once it is made. */
  readonly timeMs: number;
  readonly #options: HoldOptions;
  readonly #call: Call;
  readonly #out: Out;
  /** What the caller hears while it waits. */
  words = "Waits for somebody's yes.";
  #progress = 0;

  constructor(options: HoldOptions, call: Call, out: Out) {
    this.#options = options;
    this.#call = call;
    this.#out = out;
    this.timeMs = call.deadline - options.clock.now();
  }

  /** How long this caller is kept waiting from now on. */
  patienceMs({ expiresAt }: Approval): number {
    const { now, holdMs } = this.#options;
    const leftMs = expiresAt - now();
    return this.#call.mayDefer === true ? leftMs : Math.min(leftMs, holdMs());
  }

  /** The approval as soon as it is not as it was, or when the time is over. Rejects with the signal's reason. */
  async wait(asked: Approval, ms: number, signal = this.#call.signal): Promise<Approval | undefined> {
    const { watch, timers, now } = this.#options;
    const message = this.words;
    const keepMs = asked.expiresAt - now() + this.timeMs;
    this.#out.write({ type: "status", state: "input-required", message, ...(this.#call.mayDefer && { keepMs }) });
    const tell = () => {
      this.#out.write({ type: "progress", payload: payload(jsonText({ progress: this.#progress, message })) });
      this.#progress += PROGRESS_STEP;
      timer = timers.after(PROGRESS_MS, tell);
    };
    let timer = timers.after(0, tell);
    try {
      return await watch.change(asked, ms, this.waiting(signal));
    } finally {
      timer.cancel();
    }
  }

  waiting(signal: AbortSignal): Waiting {
    const { run } = this.#call;
    return { signal, isRead: run && (() => run.isRead) };
  }

  /** Whichever comes first; what was waited for beside an answer is not waited for any more. */
  async firstOf(
    answer: Promise<Answer>,
    waiting: (signal: AbortSignal) => Promise<Approval | undefined>,
  ): Promise<Answer | Approval | undefined> {
    const answered = new AbortController();
    const waited = waiting(AbortSignal.any([this.#call.signal, answered.signal]));
    try {
      return await Promise.race([answer, waited]);
    } finally {
      answered.abort();
      await waited.catch(() => undefined);
    }
  }
}

export function isAnswer(first: Answer | Approval | undefined): first is Answer {
  return first !== undefined && "outcome" in first;
}
