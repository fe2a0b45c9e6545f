import type { Call, Clock, Next, Stage } from "../contract/index.ts";
import type { LiveCall } from "./runs/live-call.ts";

/**
 * Runs stages left to right around `last`. The one place that knows about order; it notes when a call comes to each.
 */
export function compose(stages: readonly Stage[], last: Next, clock: Clock): Next {
  const names = [...stages, last].map(nameOf);
  const end: Next = (call, out) => {
    timingOf(call).enter(clock.now(), names);
    return last(call, out);
  };
  return stages.reduceRight<Next>((next, stage) => {
    return (call, out) => {
      timingOf(call).enter(clock.now(), names);
      return stage(call, out, next);
    };
  }, end);
}

/** As it was written: a bundler puts a number behind what two files call alike. */
function nameOf({ name }: Stage | Next): string {
  return name.replace(/\d+$/, "");
}

function timingOf(call: Call): LiveCall["timing"] {
  return (call as LiveCall).timing;
}
