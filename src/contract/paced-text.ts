import type { Clock } from "./ports.ts";
import type { Slices, Steps } from "./steps.ts";

export type Pace = {
  readonly clock: Clock;
  readonly slices: Slices;
  /** When a turn comes after one that was used up. Default: when everybody else had theirs. */
  readonly later?: ((turn: () => void) => void) | undefined;
};

export interface PacedReader {
  /** Does what is to be done with the next part. What it throws ends the reading. */
  onPart(part: string): void;
  /** Nothing more shall come until `onFree`. Said again whenever something comes all the same, which is kept. */
  onFull(): void;
  onFree(): void;
  /** What `onPart` has thrown after `push` had returned. */
  onBroken(error: unknown): void;
}

/** So long one peer may keep the process busy in one turn of its loop. */
const TURN_MS = 4;
/** What comes so long after the last is of another turn. */
const GAP_MS = 1;
/** A part of a peer of which nobody knows yet how much is made of its bytes, and of one of whom it is much. */
const FIRST_PART = 4 * 1024;
const LEAST_PART = 1024;
const LARGEST_PART = 64 * 1024;
/** A part that takes so long is too large, and one that takes so short a time may be larger. */
const LONG_MS = 2;
const SHORT_MS = 0.5;

/**
 * What a peer sends without a pause is taken in parts, between which everybody else has a turn: by how long it takes, because a few bytes
 * may be a message, and many a piece of one.
 */
// Invariants:
//  1. `#rest` is empty unless `#isResting`, or while `onPart` is called.
//  2. `onFull` is followed by one `onFree` or `onBroken`, unless `stop` comes first.
export class PacedText {
  readonly #pace: Pace;
  readonly #reader: PacedReader;
  #rest = "";
  #isResting = false;
  #isStopped = false;
  #part = FIRST_PART;
  #busyMs = 0;
  #endedAt = Number.NEGATIVE_INFINITY;

  constructor(pace: Pace, reader: PacedReader) {
    this.#pace = pace;
    this.#reader = reader;
  }

  /** Something is kept that nobody has taken yet, or the peer's turn is used up. */
  get isResting(): boolean {
    return this.#isResting && !this.#isStopped;
  }

  /** Throws what `onPart` throws, where it is called at once. */
  push(text: string): void {
    if (this.#isStopped) return;
    if (this.#isResting) {
      this.#rest += text;
      this.#reader.onFull();
      return;
    }
    const from = this.#pace.clock.now();
    if (from - this.#endedAt > GAP_MS) this.#busyMs = 0;
    if (text.length <= this.#part) this.#take(text, from);
    else {
      this.#rest = text;
      const done = this.#pace.slices.run(this.#steps());
      if (done instanceof Promise) return this.#restUntil(done);
    }
    if (this.#busyMs < TURN_MS || this.#isStopped) return;
    const { later = setImmediate } = this.#pace;
    this.#restUntil(new Promise((resolve) => later(resolve)));
  }

  /** Takes nothing more. */
  stop(): void {
    this.#isStopped = true;
    this.#rest = "";
  }

  #restUntil(done: Promise<void>): void {
    this.#isResting = true;
    this.#reader.onFull();
    done.then(() => this.#goOn()).catch((error: unknown) => this.#break(error));
  }

  #goOn(): void {
    if (this.#isStopped) return;
    this.#busyMs = 0;
    if (this.#rest !== "") {
      const done = this.#pace.slices.run(this.#steps());
      if (done instanceof Promise) {
        done.then(() => this.#goOn()).catch((error: unknown) => this.#break(error));
        return;
      }
    }
    this.#isResting = false;
    if (!this.#isStopped) this.#reader.onFree();
  }

  #break(error: unknown): void {
    if (this.#isStopped) return;
    this.stop();
    this.#reader.onBroken(error);
  }

  *#steps(): Steps<void> {
    while (this.#rest !== "") {
      const part = this.#rest.slice(0, this.#part);
      this.#rest = this.#rest.slice(part.length);
      this.#take(part, this.#pace.clock.now());
      yield;
    }
  }

  #take(part: string, from: number): void {
    this.#reader.onPart(part);
    const now = this.#pace.clock.now();
    const tookMs = now - from;
    this.#endedAt = now;
    this.#busyMs += tookMs;
    if (tookMs > LONG_MS) this.#part = LEAST_PART;
    else if (tookMs < SHORT_MS && part.length === this.#part) this.#part = Math.min(2 * this.#part, LARGEST_PART);
  }
}
