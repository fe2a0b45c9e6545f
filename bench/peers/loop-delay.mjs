// Loaded before the candidate: writes how late its event loop runs to the file that LOOP_DELAY_FILE names, twice a second; and
// how much processor time it takes from one turn to the next, which is the same on a machine that is busy with something else.
// SIGUSR2 begins anew.
import { writeFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";

const EVERY_MS = 2;
const file = process.env.LOOP_DELAY_FILE;
if (file) {
  const histogram = monitorEventLoopDelay({ resolution: 5 });
  histogram.enable();
  let turns = [];
  let last = process.threadCpuUsage();
  const look = () => {
    const now = process.threadCpuUsage();
    turns.push((now.user + now.system - last.user - last.system) / 1000);
    last = now;
    setTimeout(look, EVERY_MS).unref();
  };
  look();
  process.on("SIGUSR2", () => {
    histogram.reset();
    turns = [];
  });
  const inMs = (ns) => ns / 1e6;
  setInterval(() => {
    const [p50, p99] = [50, 99].map((percent) => inMs(histogram.percentile(percent)));
    const sorted = turns.toSorted((a, b) => a - b);
    const busyP99 = sorted[Math.floor(sorted.length * 0.99)] ?? 0;
    writeFileSync(file, JSON.stringify({ p50, p99, max: inMs(histogram.max), busyP99, busyMax: sorted.at(-1) ?? 0 }));
  }, 500).unref();
}
