import type { Membership, Timer, Timers } from "../../contract/index.ts";

export type LiveMemberCountOptions = {
  readonly members: Membership;
  readonly timers: Timers;
  /** Whether anybody would ask: it costs a trip each time. */
  readonly isWanted: () => boolean;
};

const LOOK_EVERY_MS = 2_000;

/** How many processes there are, as far as it was last known: by that each knows its share when their store is away. */
export class LiveMemberCount {
  readonly #options: LiveMemberCountOptions;
  #last = 1;
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(options: LiveMemberCountOptions) {
    this.#options = options;
  }

  get last(): number {
    return this.#last;
  }

  open(): void {
    if (!this.#isClosed) void this.#look();
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  async #look(): Promise<void> {
    const { members, timers, isWanted } = this.#options;
    try {
      if (isWanted()) this.#last = Math.max(1, (await members.list()).length);
    } catch {
      // What was known last stays.
    }
    if (!this.#isClosed) this.#timer = timers.after(LOOK_EVERY_MS, () => void this.#look());
  }
}
