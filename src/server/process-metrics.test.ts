import { monitorEventLoopDelay } from "node:perf_hooks";
import { expect, test } from "vitest";
import { ProcessMetrics } from "./process-metrics.ts";

function samplesOf(text: string): ReadonlyMap<string, number> {
  const lines = [...text.matchAll(/^([a-z_\d]+) (\S+)$/gm)];
  return new Map(lines.map(([, name = "", value]) => [name, Number(value)]));
}

test("counts the processor's time from the start of the process, from the first time on", async () => {
  const before = process.cpuUsage();
  const metrics = new ProcessMetrics();
  const first = samplesOf(await metrics.render());
  const second = samplesOf(await metrics.render());
  const after = process.cpuUsage();
  const spent = { user: after.user, system: after.system, all: after.user + after.system };
  const names = {
    user: "process_cpu_user_seconds_total",
    system: "process_cpu_system_seconds_total",
    all: "process_cpu_seconds_total",
  };
  expect(first.get(names.user)).toBeGreaterThanOrEqual(before.user / 1e6);
  expect(first.get(names.system)).toBeGreaterThanOrEqual(before.system / 1e6);
  expect(first.get(names.all)).toBeGreaterThanOrEqual((before.user + before.system) / 1e6);
  for (const kind of ["user", "system", "all"] as const) {
    expect(second.get(names[kind])).toBeGreaterThanOrEqual(first.get(names[kind]) ?? Number.NaN);
    expect(second.get(names[kind])).toBeLessThanOrEqual(spent[kind] / 1e6 + 1e-6);
  }
});

test("leaves out the delay of the event loop until it was measured, and never has a number that is none", async () => {
  const metrics = new ProcessMetrics();
  // One right after the other: in between there is no time to measure anything.
  const first = await metrics.render();
  expect(first).toContain("# TYPE nodejs_eventloop_lag_p99_seconds gauge\n");
  expect([...samplesOf(first).keys()].filter((name) => name.startsWith("nodejs_eventloop_lag"))).toEqual([]);
  await metrics.render();
  await measured();
  const later = samplesOf(await metrics.render());
  const delays = [...later].filter(([name]) => name.startsWith("nodejs_eventloop_lag"));
  expect(delays).toHaveLength(8);
  for (const [, value] of delays) expect(value).toBeLessThan(3600);
  for (const [, value] of [...samplesOf(first), ...later]) expect(value).not.toBeNaN();
});

/** Resolves when whoever watches the event loop has seen something of it. */
async function measured(): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  while (delay.count < 2) await new Promise(setImmediate);
  delay.disable();
}
