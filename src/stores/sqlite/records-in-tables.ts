import { open } from "node:fs/promises";
import { performance } from "node:perf_hooks";
import type { Database, Statement } from "better-sqlite3";
import { Kysely, sql } from "kysely";
import { type Change, faultPoint, GatewayError, type Records } from "../../contract/index.ts";
import type { Tables } from "../migrations/index.ts";
import {
  Missed,
  missed,
  SqlApprovalRows,
  SqlAuditRows,
  SqlBlobRows,
  SqlBlockRows,
  SqlDeliveryRows,
  type SqlEngine,
  SqlPolicyRows,
  SqlTaskRows,
  SqlTokenRows,
  SqlUpstreamTokenRows,
  statementsOf,
} from "../sql/index.ts";
import type { GroupCommit } from "./group-commit.ts";
import type { SqliteRecordsOptions } from "./records.ts";
import { groupCommitDialect } from "./records-dialect.ts";
import { migrateRecords } from "./records-migration.ts";
import { isStorageError, stateUnavailable } from "./sqlite-errors.ts";

const MAX_STATEMENTS = 128;

export class SqliteRecords implements Records {
  readonly tasks: SqlTaskRows;
  readonly audit: SqlAuditRows;
  readonly deliveries: SqlDeliveryRows;
  readonly blobs: SqlBlobRows;
  readonly policy: SqlPolicyRows;
  readonly approvals: SqlApprovalRows;
  readonly upstreamTokens: SqlUpstreamTokenRows;
  readonly tokens: SqlTokenRows;
  readonly blocks: SqlBlockRows;
  readonly #engine: SqlEngine;
  readonly #commits: GroupCommit;
  readonly #database: Database;
  readonly #statements = new Map<string, Statement>();
  #isClosed = false;

  constructor({ connection, now = Date.now }: SqliteRecordsOptions) {
    const database = new Kysely<Tables>({ dialect: groupCommitDialect(connection) });
    migrateRecords(connection.database, database);
    this.#commits = connection.commits;
    this.#database = connection.database;
    this.#engine = {
      name: "sqlite",
      database,
      // Only this process takes, so its own clock will do: one that nobody can set.
      leaseClock: () => sql<number>`${Math.round(performance.now())}`,
      now,
      run: (work) => this.#run(work),
    };
    this.audit = new SqlAuditRows(this.#engine);
    this.tasks = new SqlTaskRows(this.#engine);
    this.deliveries = new SqlDeliveryRows(this.#engine);
    this.blobs = new SqlBlobRows(this.#engine);
    this.policy = new SqlPolicyRows(this.#engine);
    this.approvals = new SqlApprovalRows(this.#engine);
    this.upstreamTokens = new SqlUpstreamTokenRows(this.#engine);
    this.tokens = new SqlTokenRows(this.#engine);
    this.blocks = new SqlBlockRows(this.#engine);
  }

  async write(changes: readonly Change[]): Promise<boolean> {
    const statements = statementsOf(this.#engine, changes);
    faultPoint("records.changes.writing");
    const isWritten = await this.#run(() => this.#commits.write(() => this.#runAll(statements)).catch(missed));
    faultPoint("records.changes.written");
    return isWritten;
  }

  #runAll(statements: ReturnType<typeof statementsOf>): true {
    for (const { query, mustFind } of statements) {
      const found = this.#statementOf(query.sql).run(...query.parameters);
      if (mustFind && found.changes === 0) throw new Missed();
    }
    return true;
  }

  /** Those that come again and again: making one costs more than running it. */
  #statementOf(text: string): Statement {
    let statement = this.#statements.get(text);
    if (!statement) {
      statement = this.#database.prepare(text);
      if (this.#statements.size < MAX_STATEMENTS) this.#statements.set(text, statement);
    }
    return statement;
  }

  /** Commits are in the log before they are acknowledged, and no lock is on the log: another handle of it harms nobody. */
  async sync(): Promise<void> {
    const log = await open(`${this.#database.name}-wal`, "r").catch(() => undefined);
    try {
      await log?.sync();
    } finally {
      await log?.close();
    }
  }

  get isUp(): boolean {
    return !this.#isClosed && this.#commits.isUp;
  }

  onHealth(listener: (isUp: boolean) => void): () => void {
    return this.#commits.onHealth(listener);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  // Tried even while it is down: a file answers at once, and can be read when the disk is full.
  async #run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#isClosed) throw new GatewayError("STATE_UNAVAILABLE", { details: { store: "sqlite" } });
    try {
      return await work();
    } catch (error) {
      throw isStorageError(error) ? stateUnavailable(error) : GatewayError.from(error);
    }
  }
}
