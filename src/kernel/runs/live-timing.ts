import type { Timing } from "../../contract/index.ts";

const NONE: readonly string[] = [];

/** Filled while the call runs: by the pipeline, and by dispatch. */
export class LiveTiming implements Timing {
  stages = NONE;
  readonly entered: number[] = [];
  sentAt = 0;
  firstAt = 0;
  repeats = 0;

  /** The call comes to the next of `stages`. */
  enter(now: number, stages: readonly string[]): void {
    this.stages = stages;
    this.entered.push(now);
  }
}
