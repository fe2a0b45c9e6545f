/** Runs a lane of work as a child process, lets it print, and says how long it took. */
import { spawn } from "node:child_process";

const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

/** Resolves with `ok: false` instead of throwing, so that later lanes still report. */
export async function runLane(name, command, args) {
  process.stdout.write(`\n── ${name}: ${[command, ...args].join(" ")}\n`);
  const start = performance.now();
  const code = await new Promise((resolve) => {
    const child = spawn(command, args, { stdio: "inherit" });
    child.once("error", (error) => {
      process.stderr.write(`${error.message}\n`);
      resolve(127);
    });
    child.once("exit", (exitCode, signal) => resolve(exitCode ?? signal));
  });
  const lane = { name, ok: code === 0, ms: performance.now() - start };
  process.stdout.write(`── ${name}: ${lane.ok ? "passed" : `failed (${code})`} in ${seconds(lane.ms)}\n`);
  return lane;
}

/** Runs lanes one after the other; prints a table and, as the last line, the totals. Sets the exit code. */
export async function runLanes(lanes) {
  const results = [];
  for (const [name, command, ...args] of lanes) results.push(await runLane(name, command, args));
  process.stdout.write("\n");
  for (const lane of results) {
    process.stdout.write(`${lane.ok ? "ok  " : "FAIL"} ${lane.name.padEnd(16)} ${seconds(lane.ms)}\n`);
  }
  const failed = results.filter((lane) => !lane.ok).length;
  process.stdout.write(`${results.length - failed} passed, ${failed} failed\n`);
  process.exitCode = failed === 0 ? 0 : 1;
}
