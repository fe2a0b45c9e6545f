import type { Clock, Timer, Timers } from "../../../contract/index.ts";

const QUIET_MS = 25;
const LONGEST_MS = 200;

/** Servers ask several things at once in several messages: waits until none has come for a moment, but not for long. */
export class QuietWindow {
  readonly #time: { readonly clock: Clock; readonly timers: Timers };
  readonly #onQuiet: () => void;
  #timer: Timer | undefined;
  #since: number | undefined;

  constructor(time: { readonly clock: Clock; readonly timers: Timers }, onQuiet: () => void) {
    this.#time = time;
    this.#onQuiet = onQuiet;
  }

  /** Something came: waits anew. */
  stir(): void {
    const now = this.#time.clock.now();
    this.#since ??= now;
    this.#timer?.cancel();
    const left = Math.max(0, LONGEST_MS - (now - this.#since));
    this.#timer = this.#time.timers.after(Math.min(QUIET_MS, left), () => {
      this.close();
      this.#onQuiet();
    });
  }

  close(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#since = undefined;
  }
}
