/** How a definition differs from the one that was pinned, line by line. */
import type { ChangedMember, PinnedTool } from "../../server/pin-file-of.ts";
import { plainText } from "./plain.ts";

export function pinDiffLines({ name, server, changes, digest }: PinnedTool): string[] {
  const shown = changes.flatMap(({ since, was, members }) => [
    `${name} of ${server}, changed since ${since}`,
    ...(was === undefined ? [] : [`  it has the definition that ${was} was pinned with, under another name`]),
    ...members.flatMap(memberLines),
    "",
  ]);
  return digest === undefined ? shown : [...shown, `digest of this: ${digest}`, ""];
}

function memberLines({ name, before, now, isPartial }: ChangedMember): string[] {
  const lines = differenceLines(readable(before), readable(now)).map((line) => `    ${line}`);
  return [
    `  ${name}:`,
    ...lines,
    ...(isPartial
      ? [
          "    (not all of it is kept: it is too long, its server has changed too much, or it was pinned by an older version)",
        ]
      : []),
  ];
}

/** Of the text itself where it is one, else of its JSON. Nothing in it may steer the terminal. */
function readable(json: string | undefined): string[] {
  if (json === undefined) return [];
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    value = json;
  }
  return plainText(typeof value === "string" ? value : JSON.stringify(value, null, 2)).split("\n");
}

/** Lines that went with "-", lines that came with "+", and those that stayed with a blank. */
export function differenceLines(before: readonly string[], now: readonly string[]): string[] {
  const common = longestCommon(before, now);
  const lines: string[] = [];
  let [old, fresh] = [0, 0];
  for (const [inBefore, inNow] of [...common, [before.length, now.length] as const]) {
    while (old < inBefore) lines.push(`- ${before[old++]}`);
    while (fresh < inNow) lines.push(`+ ${now[fresh++]}`);
    if (inBefore < before.length) lines.push(`  ${before[old++]}`);
    fresh++;
  }
  return lines;
}

/** Places of the lines that both have, in order. What is kept of a definition is short enough for the plain way. */
function longestCommon(before: readonly string[], now: readonly string[]): (readonly [number, number])[] {
  const lengths = Array.from({ length: before.length + 1 }, () => new Uint16Array(now.length + 1));
  const at = (row: number, column: number) => lengths[row]?.[column] ?? 0;
  for (let row = before.length - 1; row >= 0; row--) {
    for (let column = now.length - 1; column >= 0; column--) {
      const own = lengths[row] as Uint16Array;
      own[column] =
        before[row] === now[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const pairs: (readonly [number, number])[] = [];
  for (let [row, column] = [0, 0]; row < before.length && column < now.length; ) {
    if (before[row] === now[column]) pairs.push([row++, column++]);
    else if (at(row + 1, column) >= at(row, column + 1)) row++;
    else column++;
  }
  return pairs;
}
