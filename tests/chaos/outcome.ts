/** How calls ended, as their clients know it, and what must never happen. */
import { readFileSync } from "node:fs";

export type Ending =
  /** The right answer. */
  | "answered"
  /** OUTCOME_UNKNOWN, said by a gateway. */
  | "unknown"
  /** A gateway said that it did not make the call. */
  | "refused"
  /** The connection broke and nobody can say more: the client was connected to the process that died. */
  | "cut"
  /** Another error of the family. */
  | "failed";

export class Tally {
  readonly #counts = new Map<string, Map<string, number>>();
  readonly #notes = new Map<string, Map<string, number>>();
  readonly wrong: string[] = [];
  /** Marks of calls that were answered, and of those that were refused. */
  readonly answered = new Set<string>();
  readonly refused = new Set<string>();
  readonly tasks = new Set<string>();

  count(client: string, ending: string): void {
    const row = this.#counts.get(client) ?? new Map<string, number>();
    row.set(ending, (row.get(ending) ?? 0) + 1);
    this.#counts.set(client, row);
  }

  /** Of what is beside the table: how often something was seen. */
  note(what: string, seen: string, by = 1): void {
    const row = this.#notes.get(what) ?? new Map<string, number>();
    this.#notes.set(what, row.set(seen, (row.get(seen) ?? 0) + by));
  }

  /** Something that must never happen. */
  violate(what: string): void {
    this.wrong.push(what);
  }

  of(client: string, ending: string): number {
    return this.#counts.get(client)?.get(ending) ?? 0;
  }

  total(ending: string): number {
    return [...this.#counts.keys()].reduce((sum, client) => sum + this.of(client, ending), 0);
  }

  table(): string {
    const endings = [...new Set([...this.#counts.values()].flatMap((row) => [...row.keys()]))].sort();
    const rows = [
      ["clients", ...endings],
      ...[...this.#counts].map(([client, row]) => [client, ...endings.map((ending) => String(row.get(ending) ?? 0))]),
    ];
    const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length))) ?? [];
    const lines = rows.map((row) =>
      row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join("  "),
    );
    const notes = [...this.#notes].map(([what, row]) => {
      const seen = [...row].sort(([one], [other]) => one.localeCompare(other));
      return `${what}: ${seen.map(([name, count]) => `${name} ${count}`).join(", ")}`;
    });
    return [...lines, ...(notes.length > 0 ? ["", ...notes] : [])].join("\n");
  }
}

/** What the servers behind the gateways did, line by line of their record. */
export type Execution = {
  readonly mark: string;
  readonly session: string;
  readonly count: number;
  readonly at: number;
};

export function readExecutions(record: string): Execution[] {
  const lines = readFileSync(record, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Execution);
}

/** Calls that wait for a yes: a repeat may be let through by another one, so they are judged by what they were given. */
export const GATED = "gate-";

/** Holds what was done against what clients were told. */
export function judgeExecutions(tally: Tally, executions: readonly Execution[]): void {
  const times = new Map<string, number>();
  for (const { mark } of executions) times.set(mark, (times.get(mark) ?? 0) + 1);
  for (const [mark, count] of times)
    if (count > 1 && !mark.startsWith(GATED)) tally.violate(`${mark} was executed ${count} times`);
  for (const mark of tally.answered) if (!times.has(mark)) tally.violate(`${mark} was answered and never executed`);
  for (const mark of tally.refused) if (times.has(mark)) tally.violate(`${mark} was refused and executed`);
}
