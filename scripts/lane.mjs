/** Runs a lane of work as a child process, lets it print, and says how long it took. */
import { spawn } from "node:child_process";
import { stripVTControlCharacters } from "node:util";

/** Lines that name what went wrong: of vitest, and of our own scripts. */
const FINDING = /^\s*(FAIL|×|✗|WRONG|AssertionError|\w*Error:)/;
const MAX_FINDINGS = 12;

const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

/** Resolves with `ok: false` instead of throwing, so that later lanes still report. */
export async function runLane(name, command, args) {
  process.stdout.write(`\n── ${name}: ${[command, ...args].join(" ")}\n`);
  const start = performance.now();
  const findings = new Set();
  const code = await new Promise((resolve) => {
    const isWatched = process.stdout.isTTY === true;
    const child = spawn(command, args, { stdio: isWatched ? "inherit" : ["inherit", "pipe", "pipe"] });
    if (!isWatched) {
      passOn(child.stdout, process.stdout, findings);
      passOn(child.stderr, process.stderr, findings);
    }
    child.once("error", (error) => {
      process.stderr.write(`${error.message}\n`);
      resolve(127);
    });
    // Not "close": a process that a test left behind would hold the pipes open.
    child.once("exit", (exitCode, signal) => setTimeout(() => resolve(exitCode ?? signal), isWatched ? 0 : 100));
  });
  const lane = { name, ok: code === 0, ms: performance.now() - start, findings };
  process.stdout.write(`── ${name}: ${lane.ok ? "passed" : `failed (${code})`} in ${seconds(lane.ms)}\n`);
  return lane;
}

/** Remembers the lines that say what went wrong: whoever reads only the end of a long log needs them there. */
function passOn(source, target, findings) {
  let rest = "";
  source.setEncoding("utf8").on("data", (text) => {
    target.write(text);
    const lines = (rest + stripVTControlCharacters(text)).split("\n");
    rest = lines.pop().slice(-1_000);
    for (const line of lines) if (findings.size < MAX_FINDINGS && FINDING.test(line)) findings.add(line.trim());
  });
}

/** Runs lanes one after the other; prints a table and, as the last line, the totals. Sets the exit code. */
export async function runLanes(lanes) {
  const results = [];
  for (const [name, command, ...args] of lanes) results.push(await runLane(name, command, args));
  process.stdout.write("\n");
  for (const lane of results) {
    process.stdout.write(`${lane.ok ? "ok  " : "FAIL"} ${lane.name.padEnd(16)} ${seconds(lane.ms)}\n`);
    if (!lane.ok) for (const line of lane.findings) process.stdout.write(`       ${line.slice(0, 200)}\n`);
  }
  const failed = results.filter((lane) => !lane.ok).length;
  process.stdout.write(`${results.length - failed} passed, ${failed} failed\n`);
  process.exitCode = failed === 0 ? 0 : 1;
}
