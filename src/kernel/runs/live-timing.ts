import type { Timing } from "../../contract/index.ts";

const NONE: readonly string[] = [];

/** Filled while the call runs: by the pipeline, and by dispatch. */
export class LiveTiming implements Timing {
  stages = NONE;
  readonly entered: number[] = [];
  sentAt = 0;
  firstAt = 0;

  enter(now: number): void {
    this.entered.push(now);
  }
}
