import type { Membership, Timer, Timers } from "../../contract/index.ts";

export type LiveMemberCountOptions = {
  readonly members: Membership;
  readonly timers: Timers;
  /** Whether anybody would ask: it costs a trip each time. */
  readonly isWanted: () => boolean;
};

const LOOK_EVERY_MS = 2_000;
/** After an outage processes come back one by one: fewer are believed when they were seen for longer than a lease. */
const LOOKS_FOR_FEWER = 8;

/** How many processes there are, as far as it was last known: by that each knows its share when their store is away. */
export class LiveMemberCount {
  readonly #options: LiveMemberCountOptions;
  #last: number | undefined;
  #fewerSeen = 0;
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(options: LiveMemberCountOptions) {
    this.#options = options;
  }

  /** Undefined: it is not known, and nobody may take a share. */
  get last(): number | undefined {
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
      if (isWanted()) this.#saw(Math.max(1, (await members.list()).length));
      else this.#last = undefined;
    } catch {
      // What was known last stays.
    }
    if (!this.#isClosed) this.#timer = timers.after(LOOK_EVERY_MS, () => void this.#look());
  }

  #saw(count: number): void {
    this.#fewerSeen = count < (this.#last ?? 0) ? this.#fewerSeen + 1 : 0;
    if (this.#fewerSeen > 0 && this.#fewerSeen < LOOKS_FOR_FEWER) return;
    this.#last = count;
    this.#fewerSeen = 0;
  }
}
