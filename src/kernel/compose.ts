import type { Call, Clock, Next, Stage } from "../contract/index.ts";
import type { LiveCall } from "./runs/live-call.ts";

/** Runs stages left to right around `last`. The one place that knows about order; it notes when a call comes to each. */
export function compose(stages: readonly Stage[], last: Next, clock: Clock): Next {
  const names = [...stages.map(({ name }) => name), last.name];
  const noted = (next: Next): Next => {
    return (call, out) => {
      timingOf(call).enter(clock.now());
      return next(call, out);
    };
  };
  const first = stages.reduceRight<Next>((next, stage) => noted((call, out) => stage(call, out, next)), noted(last));
  return (call, out) => {
    timingOf(call).stages = names;
    return first(call, out);
  };
}

function timingOf(call: Call): LiveCall["timing"] {
  return (call as LiveCall).timing;
}
