/** Aligned columns that fit a terminal: the last column gets what the others leave, and is cut or broken there. */
import { cut, plainLine } from "./plain.ts";
import { wrap } from "./wrap.ts";

const GAP = "  ";
const MIN_LAST = 10;
const MIN_WRAPPED = 24;

export type TableOptions = {
  /** Of the whole table, in characters. */
  readonly width: number;
  /** The widest that a column before the last may be; a longer cell pushes the rest of its own row aside. */
  readonly maxColumn?: number;
};

/** Lines without their ends, one for each row. */
export function tableLines(rows: readonly (readonly string[])[], options: TableOptions): string[] {
  return laidOut(rows, options).map(({ before, last, left }) => {
    if (before === undefined) return cut(last, options.width).trimEnd();
    return `${before}${cut(last, Math.max(left, MIN_LAST))}`.trimEnd();
  });
}

/** The same with the last column broken at spaces and never cut: its end may be a name that somebody must type. */
export function wrappedRows(rows: readonly (readonly string[])[], options: TableOptions): string[][] {
  return laidOut(rows, options).map(({ before = "", last, left }) =>
    wrap(last, Math.max(left, MIN_WRAPPED)).map((line, index) =>
      `${index === 0 ? before : " ".repeat([...before].length)}${line}`.trimEnd(),
    ),
  );
}

type Row = { readonly before: string | undefined; readonly last: string; readonly left: number };

/** `before`: all columns but the last, padded; undefined: there are none. `left`: room for the last one. */
function laidOut(rows: readonly (readonly string[])[], { width, maxColumn = 40 }: TableOptions): Row[] {
  const cells = rows.map((row) => row.map(plainLine));
  const count = Math.max(0, ...cells.map((row) => row.length));
  const widths = Array.from({ length: Math.max(count - 1, 0) }, (_, column) =>
    Math.min(maxColumn, Math.max(0, ...cells.map((row) => [...(row[column] ?? "")].length))),
  );
  return cells.map((row) => {
    const last = row[count - 1] ?? "";
    if (count <= 1) return { before: undefined, last, left: width };
    const before = `${widths.map((wide, column) => (row[column] ?? "").padEnd(wide)).join(GAP)}${GAP}`;
    return { before, last, left: width - [...before].length };
  });
}
