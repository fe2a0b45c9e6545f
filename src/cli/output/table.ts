/** Aligned columns that fit a terminal: the last column gets what the others leave, and is cut there. */
import { cut, plainLine } from "./plain.ts";

const GAP = "  ";
const MIN_LAST = 10;

export type TableOptions = {
  /** Of the whole table, in characters. */
  readonly width: number;
  /** The widest that a column before the last may be; a longer cell pushes the rest of its own row aside. */
  readonly maxColumn?: number;
};

/** Lines without their ends. */
export function tableLines(rows: readonly (readonly string[])[], { width, maxColumn = 40 }: TableOptions): string[] {
  const cells = rows.map((row) => row.map(plainLine));
  const count = Math.max(0, ...cells.map((row) => row.length));
  const widths = Array.from({ length: Math.max(count - 1, 0) }, (_, column) =>
    Math.min(maxColumn, Math.max(0, ...cells.map((row) => [...(row[column] ?? "")].length))),
  );
  return cells.map((row) => {
    const before = widths.map((wide, column) => (row[column] ?? "").padEnd(wide)).join(GAP);
    const left = width - [...before].length - GAP.length;
    const last = cut(row[count - 1] ?? "", Math.max(left, MIN_LAST));
    return (count > 1 ? `${before}${GAP}${last}` : cut(last, width)).trimEnd();
  });
}
