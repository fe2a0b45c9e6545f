/** Ends approvals whose time is over, and forgets those that are over: after a while, and when there are too many of them. */
import type { Approval, ApprovalRows, Log, Timer, Timers } from "../../contract/index.ts";

const SWEEP_MS = 5_000;
const SWEPT_AT_ONCE = 100;
/** How long what has become of one can be looked up, and of how many at most. */
const KEPT_MS = 60 * 60_000;
const MOST_KEPT = 5_000;

export type ApprovalSweepOptions = {
  readonly rows: ApprovalRows;
  readonly timers: Timers;
  readonly log: Log;
  /** Everybody's clock, in ms. */
  readonly now: () => number;
  readonly expire: (approval: Approval) => Promise<void>;
};

export class ApprovalSweep {
  readonly #options: ApprovalSweepOptions;
  #timer: Timer | undefined;
  #isClosed = false;
  #hasFailed = false;

  constructor(options: ApprovalSweepOptions) {
    this.#options = options;
  }

  /** From now on, again and again. Safe to call twice. */
  start(): void {
    if (this.#timer || this.#isClosed) return;
    this.#timer = this.#options.timers.after(SWEEP_MS, () => void this.#sweepAndGoOn());
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  async #sweepAndGoOn(): Promise<void> {
    try {
      await this.#sweep();
      this.#hasFailed = false;
    } catch (cause) {
      if (!this.#hasFailed) this.#options.log.warn("approvals could not be swept", { cause });
      this.#hasFailed = true;
    }
    this.#timer = undefined;
    this.start();
  }

  async #sweep(): Promise<void> {
    const { rows, now, expire } = this.#options;
    for (const approval of await rows.overdue(now(), SWEPT_AT_ONCE)) await expire(approval);
    await rows.forget(now() - KEPT_MS, MOST_KEPT);
  }
}
