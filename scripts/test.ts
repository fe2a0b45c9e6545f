/**
 * All we promise, in two commands: `npm test`, and `npm run test:long` for what takes long or mostly waits. Arguments
 * pick lanes of either: `npm test -- e2e`, `npm test -- chaos` for all of that name. Before the first lane, what they
 * need of the machine is brought; a lane that needs more than there is gets skipped, or runs without those tests.
 */
import { readFileSync } from "node:fs";
import { sortLaneFiles } from "../tests/needs/lane-files.ts";
import { describeMissing, type Need } from "../tests/needs/need.ts";
import { type LaneResult, runLane, summarize } from "./lane.ts";
import { LANES, type Lane } from "./lanes.ts";

const [, , which = "", ...wanted] = process.argv;
const isWanted = ([name, lane]: [string, Lane]) =>
  wanted.length === 0
    ? (lane.isLong === true) === (which === "long")
    : wanted.some((one) => name === one || name.startsWith(`${one}:`));
const lanes = Object.entries<Lane>(LANES).filter(isWanted);
const names = lanes.map(([name]) => name);
const unknown = wanted.filter((one) => !names.some((name) => name === one || name.startsWith(`${one}:`)));
if (unknown.length > 0)
  throw new Error(`no such lane: ${unknown.join(", ")}; there are ${Object.keys(LANES).join(", ")}`);

const { scripts }: { scripts: Record<string, string> } = JSON.parse(readFileSync("package.json", "utf8"));
const results = new Map<string, LaneResult>();
results.set("needs", await runLane("needs", "npm", ["run", "-s", "needs", "--", ...names]));
results.set("build", await runLane("build", "npm", ["run", "-s", "build"]));
await runRow(lanes.filter(([, { turn }]) => turn === "first"));
await Promise.all([
  runRow(lanes.filter(([, { turn }]) => turn === undefined)),
  runRow(lanes.filter(([, { turn }]) => turn === "beside")),
]);
summarize(["needs", "build", ...names].flatMap((name) => results.get(name) ?? []));

async function runRow(row: readonly [string, Lane][]): Promise<void> {
  for (const [name, lane] of row) results.set(name, await run(name, lane));
}

async function run(name: string, lane: Lane): Promise<LaneResult> {
  const { runnable, partial, skipped } = sortLaneFiles(lane);
  const lackingOf = (files: typeof skipped) =>
    describeMissing([...new Set(files.flatMap(({ missing }): readonly Need[] => missing))]);
  const lacking = lackingOf(skipped);
  if (runnable.length === 0 && skipped.length > 0) {
    process.stdout.write(`\n── ${name}: skipped: ${lacking}\n`);
    return { name, ok: true, ms: 0, findings: new Set<string>(), skipped: lacking };
  }
  // Its command and not `npm run`: what its `pre` script does is done, and a build would take the program away from under the
  // other row. Nor `npm run --ignore-scripts`, which every npm that a test starts would inherit.
  const isQuiet = lane.turn === "beside" && lanes.some(([, { turn }]) => turn === undefined);
  const result = await runLane(name, "sh", ["-c", scripts[name] ?? ""], { isQuiet });
  const all = `of ${skipped.length + runnable.length} files`;
  const notes = [
    ...(skipped.length === 0 ? [] : [`${skipped.length} ${all} skipped: ${lacking}`]),
    ...(partial.length === 0 ? [] : [`${partial.length} ${all} in part: ${lackingOf(partial)}`]),
  ];
  return notes.length === 0 ? result : { ...result, note: notes.join("; ") };
}
