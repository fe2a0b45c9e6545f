/**
 * Requests whose answer has not come yet, oldest first. After a while each gets its stream opened without waiting for
 * an event, so that a client that loses the connection can come back. One timer for all: they wait equally long.
 */
import type { Clock, Timer, Timers } from "../../../contract/index.ts";

const PATIENCE_MS = 2000;

export interface Waiting {
  waitingSince: number;
  before: Waiting | undefined;
  after: Waiting | undefined;
  /** It has waited long enough. */
  openEarly(): void;
}

export class LateAnswers {
  readonly #clock: Clock;
  readonly #timers: Timers;
  #first: Waiting | undefined;
  #last: Waiting | undefined;
  #timer: Timer | undefined;

  readonly #patienceMs: number;

  constructor(clock: Clock, timers: Timers, patienceMs = PATIENCE_MS) {
    this.#patienceMs = patienceMs;
    this.#clock = clock;
    this.#timers = timers;
  }

  add(waiting: Waiting): void {
    waiting.waitingSince = this.#clock.now();
    waiting.before = this.#last;
    if (this.#last) this.#last.after = waiting;
    else this.#first = waiting;
    this.#last = waiting;
    this.#timer ??= this.#timers.after(this.#patienceMs, () => this.#look());
  }

  /** Safe for one that is not waiting. */
  remove(waiting: Waiting): void {
    if (this.#first !== waiting && !waiting.before) return;
    if (waiting.before) waiting.before.after = waiting.after;
    else this.#first = waiting.after;
    if (waiting.after) waiting.after.before = waiting.before;
    else this.#last = waiting.before;
    waiting.before = undefined;
    waiting.after = undefined;
  }

  #look(): void {
    const now = this.#clock.now();
    this.#timer = undefined;
    while (this.#first && now - this.#first.waitingSince >= this.#patienceMs) {
      const late = this.#first;
      this.remove(late);
      late.openEarly();
    }
    // The timer stays while anything waits, and is not moved for each answer: most come long before it.
    if (this.#first)
      this.#timer = this.#timers.after(this.#patienceMs - (now - this.#first.waitingSince), () => this.#look());
  }

  close(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
