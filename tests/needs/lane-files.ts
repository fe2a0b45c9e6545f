/** Which files of a lane can run on this machine, and which are left out for lack of something. */
import { globSync } from "node:fs";
import { sep } from "node:path";
import type { Lane } from "../../scripts/lanes.ts";
import { describeMissing, missingOf, type Need } from "./need.ts";
import { needsOfFile, wantsOfFile } from "./needs-of-file.ts";

export type LackingFile = { readonly file: string; readonly missing: readonly Need[] };
export type LaneFiles = {
  readonly runnable: readonly string[];
  /** Those of them that run without what they want, and say in their titles what they leave out. */
  readonly partial: readonly LackingFile[];
  readonly skipped: readonly LackingFile[];
};

const ROOT = `${import.meta.dirname}/../..`;

export function listLaneFiles({ files, except = [] }: Lane): string[] {
  const find = (patterns: readonly string[]) =>
    globSync([...patterns], { cwd: ROOT, exclude: ["**/node_modules"] }).map((path) => path.split(sep).join("/"));
  const left = new Set(find(except));
  return [...new Set(find(files))].filter((file) => !left.has(file)).sort();
}

export function sortLaneFiles(lane: Lane, findMissing = missingOf): LaneFiles {
  const judged = listLaneFiles(lane).map((file) => ({ file, missing: findMissing(needsOfFile(file)) }));
  const runnable = judged.filter(({ missing }) => missing.length === 0).map(({ file }) => file);
  const wanting = runnable.map((file) => ({ file, missing: findMissing(wantsOfFile(file)) }));
  return {
    runnable,
    partial: wanting.filter(({ missing }) => missing.length > 0),
    skipped: judged.filter(({ missing }) => missing.length > 0),
  };
}

/** For the `include` of a vitest config whose root is the repository. Says on standard error what is left out, and why. */
export function includeRunnable(lane: Lane): { include: string[]; passWithNoTests: boolean } {
  const { runnable, partial, skipped } = sortLaneFiles(lane);
  for (const { file, missing } of partial) process.stderr.write(`in part: ${file} ${describeMissing(missing)}\n`);
  for (const { file, missing } of skipped) process.stderr.write(`skipped: ${file} ${describeMissing(missing)}\n`);
  return { include: [...runnable], passWithNoTests: skipped.length > 0 };
}
