/**
 * Lists can be very long, and a process has one thread. Whatever is done with each of their entries is done here, a few
 * milliseconds at a time, so that no call waits for longer than that.
 */
import type { Clock, Effort, Slices, Steps } from "../contract/index.ts";

const SLICE_MS = 4;

type Job = { turn(): boolean };

export class SlicedWork implements Slices {
  readonly #clock: Clock;
  readonly #later: (turn: () => void) => void;
  readonly #jobs: Job[] = [];

  /** `later`: after what came in from outside in the meantime. */
  constructor(clock: Clock, later: (turn: () => void) => void = setImmediate) {
    this.#clock = clock;
    this.#later = later;
  }

  run<Result>(steps: Steps<Result>, effort: Effort = { ms: 0 }): Result | Promise<Result> {
    if (this.#jobs.length > 0) return this.#enqueue(steps, effort);
    const { done, value } = this.#slice(steps, effort);
    return done ? value : this.#enqueue(steps, effort);
  }

  #slice<Result>(steps: Steps<Result>, effort: Effort): IteratorResult<void, Result> {
    const from = this.#clock.now();
    try {
      for (;;) {
        const step = steps.next();
        if (step.done || this.#clock.now() - from >= SLICE_MS) return step;
      }
    } finally {
      effort.ms += this.#clock.now() - from;
    }
  }

  #enqueue<Result>(steps: Steps<Result>, effort: Effort): Promise<Result> {
    return new Promise((resolve, reject) => {
      const turn = (): boolean => {
        try {
          const { done, value } = this.#slice(steps, effort);
          if (done) resolve(value);
          return done === true;
        } catch (error) {
          reject(error);
          return true;
        }
      };
      this.#jobs.push({ turn });
      if (this.#jobs.length === 1) this.#later(this.#turn);
    });
  }

  readonly #turn = (): void => {
    const [job] = this.#jobs;
    const isOver = job?.turn() ?? true;
    this.#jobs.shift();
    if (job && !isOver) this.#jobs.push(job);
    if (this.#jobs.length > 0) this.#later(this.#turn);
  };
}
