import { expect, test } from "vitest";
import { LOCAL } from "../contract/index.ts";
import { Metrics } from "./metrics.ts";
import { StageTimes } from "./stage-times.ts";

const STAGES = ["trace", "authorize", "dispatch"];

function finished(entered: number[], { sentAt = 0, endedAt = 0, code = "ok" }) {
  const timing = { stages: STAGES, entered, sentAt, firstAt: 0, repeats: 0 };
  const target = { provider: "p", kind: "tool", name: "t" } as const;
  const origin = { front: "mcp", protocol: "", requestId: "" };
  return { call: { id: "c", target, principal: LOCAL, origin, timing }, code, startedAt: entered[0] ?? 0, endedAt };
}

test("measures each stage on the way in, the provider, and the whole call", () => {
  const metrics = new Metrics();
  new StageTimes(metrics).finished(finished([0, 2, 5], { sentAt: 6, endedAt: 1_006 }));
  const text = metrics.render();
  expect(text).toContain('isthmus_call_duration_seconds_sum{server="p",kind="tool",tool="t"} 1.006\n');
  expect(text).toContain('isthmus_stage_duration_seconds_sum{stage="trace"} 0.002\n');
  expect(text).toContain('isthmus_stage_duration_seconds_sum{stage="authorize"} 0.003\n');
  expect(text).toContain('isthmus_stage_duration_seconds_sum{stage="dispatch"} 0.001\n');
  expect(text).toContain('isthmus_stage_duration_seconds_sum{stage="provider"} 1\n');
  expect(text).toContain('isthmus_stage_duration_seconds_bucket{stage="authorize",le="0.001"} 0\n');
  expect(text).toContain('isthmus_stage_duration_seconds_bucket{stage="authorize",le="0.005"} 1\n');
  expect(text).toContain('isthmus_stage_duration_seconds_bucket{stage="authorize",le="+Inf"} 1\n');
  expect(text).not.toContain("isthmus_stage_ends_total{");
});

test("says which stage ended a call that never reached its provider", () => {
  const metrics = new Metrics();
  const times = new StageTimes(metrics);
  times.finished(finished([0, 1], { endedAt: 2, code: "NOT_ALLOWED" }));
  times.finished(finished([0, 1, 2], { sentAt: 3, endedAt: 4, code: "PROVIDER_FAILED" }));
  expect(metrics.render()).toContain('isthmus_stage_ends_total{stage="authorize"} 1\n');
  expect(metrics.render()).not.toContain('isthmus_stage_ends_total{stage="dispatch"}');
});
