import type { Database, Statement } from "better-sqlite3";
import type { Gatherer } from "./group-commit.ts";
import { EXPIRING_TABLES } from "./shared-schema.ts";

const SWEEP_EVERY_MS = 60_000;

/** Forgets what has ended, once a minute, with a group that is committed anyway. */
export class SharedSweep implements Gatherer {
  readonly #statements: Statement<[number]>[];
  readonly #now: () => number;
  #sweptAt: number;

  constructor(database: Database, now: () => number) {
    this.#statements = EXPIRING_TABLES.map((table) => database.prepare(`DELETE FROM ${table} WHERE expires_at <= ?`));
    this.#now = now;
    this.#sweptAt = now();
  }

  get hasWrites(): boolean {
    return this.#now() - this.#sweptAt >= SWEEP_EVERY_MS;
  }

  write(): void {
    for (const statement of this.#statements) statement.run(this.#now());
  }

  written(): void {
    this.#sweptAt = this.#now();
  }
}
