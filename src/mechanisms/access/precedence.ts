/** Which of several things that were said counts. Numbers: the greater one goes before the other. */
import { matchesPattern } from "../../contract/index.ts";
import { ANY } from "./policy.ts";

/** MGP's ids: the very one, or what it begins with and `.*`, or `*`. Undefined: it does not match. */
export function idRank(pattern: string, id: string): number | undefined {
  if (pattern === ANY) return 0;
  if (pattern === id) return Number.MAX_SAFE_INTEGER;
  // With the dot: "agent.*" is not about "agents.reporter".
  return pattern.endsWith(".*") && id.startsWith(pattern.slice(0, -1)) ? pattern.length : undefined;
}

/** Patterns of any form: the very text before a pattern before `*`. Undefined: it does not match. */
export function patternRank(pattern: string, text: string): number | undefined {
  if (pattern === ANY) return 0;
  if (pattern === text) return 2;
  return pattern.includes(ANY) && matchesPattern(pattern, text) ? 1 : undefined;
}

/** A word that stands for itself, or `*`. */
export function wordRank(word: string, said: string): number | undefined {
  if (word === said) return 1;
  return word === ANY ? 0 : undefined;
}

/** Undefined where one of them does not match. */
export type Rank = readonly (number | undefined)[];

/** Those that match with the greatest rank, compared number by number. */
export function foremost<Said>(all: readonly Said[], rankOf: (said: Said) => Rank): readonly Said[] {
  let best: readonly number[] = [];
  let found: Said[] = [];
  for (const said of all) {
    const rank = rankOf(said);
    if (!isWhole(rank)) continue;
    const order = found.length === 0 ? 1 : compare(rank, best);
    if (order < 0) continue;
    if (order > 0) found = [];
    best = rank;
    found.push(said);
  }
  return found;
}

function isWhole(rank: Rank): rank is readonly number[] {
  return !rank.includes(undefined);
}

function compare(one: readonly number[], other: readonly number[]): number {
  for (const [place, number] of one.entries()) {
    const difference = number - (other[place] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
