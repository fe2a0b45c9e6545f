/** The command line, and what `--quick` changes. */
import { parseArgs } from "node:util";

export const SCENARIOS = [
  "call",
  "list",
  "start",
  "memory",
  "flat",
  "aggregate",
  "eras",
  "state",
  "governed",
  "starve",
  "before",
] as const;
export type Scenario = (typeof SCENARIOS)[number];

export type BenchOptions = {
  only: readonly Scenario[];
  /** Names or beginnings of names; empty for all. */
  candidates: readonly string[];
  /** The program of the build that this one is compared with. */
  before?: string;
  isQuick: boolean;
  sessions: readonly number[];
  toolCounts: readonly number[];
  rounds: { atLeast: number; atMost: number };
  runMs: number;
  /** Before the first round; enough for the compilers of the slowest candidate to see the hot path. */
  firstWarmMs: number;
  settleMs: number;
  idleSessions: number;
};

const FULL = {
  sessions: [1, 16, 64],
  toolCounts: [20, 1_000, 10_000],
  rounds: { atLeast: 7, atMost: 21 },
  runMs: 500,
  firstWarmMs: 2_500,
  settleMs: 9_000,
  idleSessions: 10_000,
};

/** For a first look: too few rounds to publish anything. */
const QUICK = {
  sessions: [16, 64],
  toolCounts: [20, 10_000],
  rounds: { atLeast: 2, atMost: 4 },
  runMs: 250,
  firstWarmMs: 300,
  settleMs: 1_500,
  idleSessions: 2_000,
};

export function readOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string" },
      candidates: { type: "string" },
      quick: { type: "boolean" },
      before: { type: "string" },
    },
  });
  const asked = values.only?.split(",") ?? SCENARIOS.filter((name) => name !== "before" || values.before !== undefined);
  const unknown = asked.find((name) => !SCENARIOS.includes(name as Scenario));
  if (unknown !== undefined) throw new Error(`--only: expected ${SCENARIOS.join(" | ")}, found "${unknown}"`);
  const isQuick = values.quick === true;
  return {
    only: asked as readonly Scenario[],
    candidates: values.candidates?.split(",") ?? [],
    ...(values.before === undefined ? {} : { before: values.before }),
    isQuick,
    ...(isQuick ? QUICK : FULL),
  };
}
