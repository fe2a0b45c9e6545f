import type { Database } from "better-sqlite3";
import type { LogBounds, LogItem, Logs } from "../../contract/index.ts";
import type { GroupCommit } from "./group-commit.ts";

type Parts = {
  readonly database: Database;
  readonly commits: GroupCommit;
  readonly now: () => number;
  /** Where fleeting logs are kept. */
  readonly fleeting: Logs;
};

type Size = { readonly items: number; readonly bytes: number };

export class SqliteLogs implements Logs {
  readonly #parts: Parts;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#statements = prepare(parts.database);
  }

  append(log: string, items: readonly LogItem[], bounds: LogBounds): Promise<void> {
    if (bounds.isFleeting === true) return this.#parts.fleeting.append(log, items, bounds);
    return this.#parts.commits.write(() => this.#append(log, items, bounds));
  }

  async read(log: string, after: number): Promise<readonly LogItem[]> {
    const fleeting = await this.#parts.fleeting.read(log, after);
    if (fleeting.length > 0) return fleeting;
    return this.#parts.commits.read(() => this.#statements.read.all(log, after, this.#parts.now()));
  }

  async remove(log: string, sequence: number): Promise<void> {
    await this.#parts.fleeting.remove(log, sequence);
    await this.#parts.commits.write(() => void this.#statements.remove.run(log, sequence));
  }

  async drop(log: string): Promise<void> {
    await this.#parts.fleeting.drop(log);
    await this.#parts.commits.write(() => void this.#statements.drop.run(log));
  }

  #append(log: string, items: readonly LogItem[], bounds: LogBounds): void {
    const now = this.#parts.now();
    this.#statements.dropEnded.run(log, now);
    this.#statements.keep.run(log, now + bounds.ttlMs);
    for (const { sequence, text } of items) this.#statements.add.run(log, sequence, text, Buffer.byteLength(text));
    let { items: count, bytes } = this.#statements.size.get(log) ?? { items: 0, bytes: 0 };
    while (count > 0 && (count > bounds.maxItems || bytes > bounds.maxBytes)) {
      bytes -= this.#statements.shift.get(log, log)?.bytes ?? 0;
      count -= 1;
    }
  }
}

function prepare(database: Database) {
  return {
    keep: database.prepare<[string, number]>(
      "INSERT INTO logs VALUES (?, ?) ON CONFLICT DO UPDATE SET expires_at = excluded.expires_at",
    ),
    // A number that is there already is the same item, given again by somebody who heard nothing the first time.
    add: database.prepare<[string, number, string, number]>("INSERT OR IGNORE INTO log_items VALUES (?, ?, ?, ?)"),
    size: database.prepare<[string], Size>(
      "SELECT count(*) AS items, coalesce(sum(bytes), 0) AS bytes FROM log_items WHERE log = ?",
    ),
    shift: database.prepare<[string, string], { bytes: number }>(
      "DELETE FROM log_items WHERE log = ? AND sequence = (SELECT min(sequence) FROM log_items WHERE log = ?) RETURNING bytes",
    ),
    read: database.prepare<[string, number, number], LogItem>(
      "SELECT sequence, text FROM log_items JOIN logs USING (log) WHERE log = ? AND sequence > ? AND expires_at > ? ORDER BY sequence",
    ),
    remove: database.prepare<[string, number]>("DELETE FROM log_items WHERE log = ? AND sequence = ?"),
    drop: database.prepare<[string]>("DELETE FROM logs WHERE log = ?"),
    dropEnded: database.prepare<[string, number]>("DELETE FROM logs WHERE log = ? AND expires_at <= ?"),
  };
}
