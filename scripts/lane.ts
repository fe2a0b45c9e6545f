/** Runs a lane of work as a child process, lets it print, and says how long it took. */
import { spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { stripVTControlCharacters } from "node:util";

export type LaneResult = {
  readonly name: string;
  readonly ok: boolean;
  readonly ms: number;
  /** Lines that say what went wrong. */
  readonly findings: ReadonlySet<string>;
  /** Why it did not run. */
  readonly skipped?: string;
  /** What it ran without. */
  readonly note?: string;
};

/** Lines that name what went wrong: of vitest, and of our own scripts. */
const FINDING = /^\s*(FAIL|×|✗|WRONG|AssertionError|\w*Error:)/;
const MAX_FINDINGS = 12;

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

/**
 * Resolves with `ok: false` instead of throwing, so that later lanes still report. `isQuiet`: another lane prints meanwhile, so
 * what this one says is printed when it has ended.
 */
export async function runLane(
  name: string,
  command: string,
  args: readonly string[],
  { isQuiet = false } = {},
): Promise<LaneResult> {
  const title = `\n── ${name}: ${[command, ...args].join(" ")}\n`;
  const kept: string[] = [title];
  const print = isQuiet ? (text: string) => void kept.push(text) : undefined;
  process.stdout.write(isQuiet ? `\n── ${name}: runs beside the others\n` : title);
  const start = performance.now();
  const findings = new Set<string>();
  const code = await new Promise<number | string | null>((resolve) => {
    const isWatched = process.stdout.isTTY === true && !isQuiet;
    const child = spawn(command, args, { stdio: isWatched ? "inherit" : ["inherit", "pipe", "pipe"] });
    if (child.stdout) passOn(child.stdout, print ?? ((text) => process.stdout.write(text)), findings);
    if (child.stderr) passOn(child.stderr, print ?? ((text) => process.stderr.write(text)), findings);
    child.once("error", (error) => {
      process.stderr.write(`${error.message}\n`);
      resolve(127);
    });
    // Not "close": a process that a test left behind would hold the pipes open.
    child.once("exit", (exitCode, signal) => setTimeout(() => resolve(exitCode ?? signal), isWatched ? 0 : 100));
  });
  if (isQuiet) process.stdout.write(kept.join(""));
  const lane = { name, ok: code === 0, ms: performance.now() - start, findings };
  process.stdout.write(`── ${name}: ${lane.ok ? "passed" : `failed (${code})`} in ${seconds(lane.ms)}\n`);
  return lane;
}

/** Remembers the lines that say what went wrong: whoever reads only the end of a long log needs them there. */
function passOn(source: Readable, print: (text: string) => void, findings: Set<string>): void {
  let rest = "";
  source.setEncoding("utf8").on("data", (text: string) => {
    print(text);
    const lines = (rest + stripVTControlCharacters(text)).split("\n");
    rest = (lines.pop() ?? "").slice(-1_000);
    for (const line of lines) if (findings.size < MAX_FINDINGS && FINDING.test(line)) findings.add(line.trim());
  });
}

/** Runs lanes, a name and a command each, one after the other. */
export async function runLanes(lanes: readonly (readonly [string, string, ...string[]])[]): Promise<void> {
  const results: LaneResult[] = [];
  for (const [name, command, ...args] of lanes) results.push(await runLane(name, command, args));
  summarize(results);
}

/** Prints a table and, as the last line, the totals. Sets the exit code. */
export function summarize(results: readonly LaneResult[]): void {
  process.stdout.write("\n");
  for (const lane of results) {
    const word = lane.skipped === undefined ? (lane.ok ? "ok  " : "FAIL") : "skip";
    process.stdout.write(`${word} ${lane.name.padEnd(16)} ${lane.skipped ?? seconds(lane.ms)}\n`);
    if (lane.note !== undefined) process.stdout.write(`       ${lane.note}\n`);
    if (!lane.ok) for (const line of lane.findings) process.stdout.write(`       ${line.slice(0, 200)}\n`);
  }
  const skipped = results.filter((lane) => lane.skipped !== undefined).length;
  const failed = results.filter((lane) => !lane.ok).length;
  const passed = results.length - failed - skipped;
  process.stdout.write(`${passed} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}\n`);
  process.exitCode = failed === 0 ? 0 : 1;
}
