import type { Next, Stage } from "../contract/index.ts";

/** Runs stages left to right around `last`. The one place that knows about order. */
export function compose(stages: readonly Stage[], last: Next): Next {
  return stages.reduceRight<Next>((next, stage) => (call, out) => stage(call, out, next), last);
}
