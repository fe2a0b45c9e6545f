/** Changes one `[[servers]]` table in the text of a config. Everything else stays, byte for byte. */
import { findTomlHeaders, findTomlLines, type KeyPath } from "../../server/config/toml-lines.ts";

/** Lines from `first` up to, and without, `end`; both counted from 0. */
type Range = { readonly first: number; readonly end: number };

/** Without the table of this place and the tables in it. Undefined: it is not written as a table of its own. */
export function withoutServer(text: string, index: number): string | undefined {
  const lines = linesOf(text);
  const ranges = rangesOf(text, lines, index);
  if (ranges.length === 0) return undefined;
  const isGone = (line: number) => ranges.some(({ first, end }) => line >= first && line < end);
  return lines.filter((_, line) => !isGone(line)).join("");
}

/** With `disabled = true` in the table of this place, or without it. Undefined: it is not written as a table of its own. */
export function withDisabled(text: string, index: number, isDisabled: boolean): string | undefined {
  const lines = linesOf(text);
  const [own] = rangesOf(text, lines, index);
  if (!own) return undefined;
  const written = lineOf(text, ["servers", index, "disabled"]);
  // A key that is not written is looked up at what it stands in: the header.
  const line = written !== undefined && written > own.first ? written : undefined;
  return setAfter(line === undefined ? lines : lines.toSpliced(line, 1), own.first, isDisabled);
}

function setAfter(lines: readonly string[], header: number, isDisabled: boolean): string {
  const end = lines[header]?.endsWith("\r\n") ? "\r\n" : "\n";
  const before = lines.slice(0, header + 1).join("");
  const whole = before.endsWith("\n") ? before : `${before}${end}`;
  return `${whole}${isDisabled ? `disabled = true${end}` : ""}${lines.slice(header + 1).join("")}`;
}

/** With their ends. */
function linesOf(text: string): string[] {
  return text.split(/(?<=\n)/);
}

function lineOf(text: string, path: KeyPath): number | undefined {
  const line = findTomlLines(text)(path);
  return line === undefined ? undefined : line - 1;
}

/** Of the table itself, which comes first, and of those inside of it. What precedes the next header is that one's comment. */
function rangesOf(text: string, lines: readonly string[], index: number): Range[] {
  const headers = findTomlHeaders(text);
  const isInside = ({ path }: { readonly path: KeyPath }) => path[0] === "servers" && path[1] === index;
  return headers.flatMap((header, place) => {
    if (!isInside(header)) return [];
    const next = headers[place + 1];
    const end = next === undefined ? lines.length : commentBefore(lines, next.line - 1);
    return [{ first: header.line - 1, end }];
  });
}

/** Where the comment begins that stands right above a line. */
function commentBefore(lines: readonly string[], line: number): number {
  let first = line;
  while (/^\s*#/.test(lines[first - 1] ?? "")) first--;
  return first;
}
