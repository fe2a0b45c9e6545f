/**
 * Finds which tests cite which requirements. A test cites by its name, each id in its own brackets at the end:
 * `test("refuses a batch [AP-155] [MX-016]", …)`. So it is found without running anything, and one id can be run
 * with `vitest -t`.
 */
import { closeOf, mask } from "../structure/mask.ts";

export type Citation = {
  readonly file: string;
  readonly name: string;
  readonly ids: readonly string[];
  /** Written with `test.fails`: it documents a known failure and is evidence of nothing else. */
  readonly fails: boolean;
  /** Ids in the name that are not in brackets of their own, and so would be missed by `vitest -t`. */
  readonly stray: readonly string[];
};

const TEST_CALL = /(?<![\w$.])(?:test|it)((?:\.\w+)*)\s*\(/g;
const ID = /\b(?:AX|MX|MA|MG|AP)-\d{3}\b/g;
const BRACKETED = /\[((?:AX|MX|MA|MG|AP)-\d{3})\]/g;

export function findCitations(file: string, source: string): Citation[] {
  const masked = mask(source);
  return [...masked.matchAll(TEST_CALL)].flatMap((match) => {
    const modifiers = (match[1] as string).split(".");
    // A skipped test proves nothing, so it does not count as citing.
    if (modifiers.includes("skip") || modifiers.includes("todo")) return [];
    const open = match.index + match[0].length - 1;
    const name = firstString(source, masked, hasTable(modifiers) ? closeOf(masked, open) : open);
    const ids = [...name.matchAll(BRACKETED)].map((found) => found[1] as string);
    const stray = [...name.replace(BRACKETED, "").matchAll(ID)].map((found) => found[0]);
    return ids.length + stray.length === 0 ? [] : [{ file, name, ids, stray, fails: modifiers.includes("fails") }];
  });
}

// `test.each(table)(name, …)`: the name is the first argument of the second call.
function hasTable(modifiers: readonly string[]): boolean {
  return ["each", "for", "skipIf", "runIf"].some((word) => modifiers.includes(word));
}

/** The string literal right after the bracket at `open`, or "" when something else stands there. */
function firstString(source: string, masked: string, open: number): string {
  const match = /^\s*\(?\s*(["'`])/.exec(masked.slice(open));
  if (match === null) return "";
  const start = open + match[0].length;
  return source.slice(start, masked.indexOf(match[1] as string, start));
}
