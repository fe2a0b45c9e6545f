/** What is known not to work: gaps.json. A gap that works, or a failure that is no gap, is wrong. */
import { readFileSync } from "node:fs";
import type { Pair, Run } from "./matrix.ts";

export type Gap = {
  readonly way?: "direct";
  readonly clients: readonly string[];
  readonly servers: readonly string[];
  readonly features: readonly string[];
  readonly reason: string;
};

export const GAPS: readonly Gap[] = JSON.parse(readFileSync(new URL("./gaps.json", import.meta.url), "utf8"));

export function gapOf(pair: Pair, feature: string): Gap | undefined {
  return GAPS.find(
    (gap) =>
      (gap.way ?? "through") === pair.way &&
      gap.clients.includes(pair.client) &&
      gap.servers.includes(pair.server) &&
      gap.features.includes(feature),
  );
}

/** One line for each finding that is not as gaps.json says. */
export function surprises(run: Run): string[] {
  return run.findings.flatMap(({ feature, outcome, detail }) => {
    const gap = gapOf(run, feature);
    if (gap === undefined) return outcome === "fail" ? [`${feature}: ${detail}`] : [];
    return outcome === "fail" ? [] : [`${feature} works, so it is no gap any more: ${gap.reason}`];
  });
}
