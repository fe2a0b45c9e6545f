/** What a run prints, and the same as data for bench/results. */
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { asShare, type Verdict } from "./stats.ts";

export type Table = { title: string; columns: string[]; rows: (string | number | undefined)[][] };

/** First column to the left, the others to the right. */
export function formatTable(table: Table): string {
  const cells = [
    table.columns,
    ...table.rows.map((row) => row.map((cell) => (cell === undefined ? "–" : String(cell)))),
  ];
  const widths = table.columns.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? "").length)));
  const lines = cells.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
  return [table.title, ...lines].join("\n");
}

export function formatVerdict(verdict: Verdict): string {
  const control = verdict.control === undefined ? "no control" : `control ${asShare(verdict.control)}`;
  return `${verdict.outcome.padEnd(12)}  ${verdict.bar}: ${verdict.figure} (${control})`;
}

export class Report {
  readonly #tables: Table[] = [];
  readonly #verdicts: Verdict[] = [];
  readonly #notes: string[] = [];

  addTable(table: Table): void {
    this.#tables.push(table);
    process.stdout.write(`\n${formatTable(table)}\n`);
  }

  addVerdict(verdict: Verdict): void {
    this.#verdicts.push(verdict);
  }

  /** Something the reader must know: a candidate that was skipped or failed. */
  addNote(note: string): void {
    if (this.#notes.includes(note)) return;
    this.#notes.push(note);
    process.stdout.write(`note: ${note}\n`);
  }

  printVerdicts(): void {
    process.stdout.write(`\n${this.#verdicts.map(formatVerdict).join("\n")}\n`);
  }

  hasFailures(): boolean {
    return this.#verdicts.some((verdict) => verdict.outcome === "FAIL");
  }

  /** Returns the path below bench/. */
  save(settings: object): string {
    const name = `results/${new Date().toISOString().replaceAll(":", "-").slice(0, 19)}.json`;
    const machine = { cpu: cpus()[0]?.model, cores: cpus().length, node: process.version };
    const data = { machine, settings, tables: this.#tables, verdicts: this.#verdicts, notes: this.#notes };
    mkdirSync(fileURLToPath(new URL("../results/", import.meta.url)), { recursive: true });
    writeFileSync(fileURLToPath(new URL(`../${name}`, import.meta.url)), `${JSON.stringify(data, null, 2)}\n`);
    return name;
  }
}
