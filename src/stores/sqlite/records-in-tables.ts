import { performance } from "node:perf_hooks";
import { Kysely, sql } from "kysely";
import { GatewayError, type Records } from "../../contract/index.ts";
import type { Tables } from "../migrations/index.ts";
import { SqlBlobRows, SqlDeliveryRows, type SqlEngine, SqlTaskRows } from "../sql/index.ts";
import type { GroupCommit } from "./group-commit.ts";
import type { SqliteRecordsOptions } from "./records.ts";
import { groupCommitDialect } from "./records-dialect.ts";
import { migrateRecords } from "./records-migration.ts";
import { isStorageError, stateUnavailable } from "./sqlite-errors.ts";

export class SqliteRecords implements Records {
  readonly tasks: SqlTaskRows;
  readonly deliveries: SqlDeliveryRows;
  readonly blobs: SqlBlobRows;
  readonly #commits: GroupCommit;
  #isClosed = false;

  constructor({ connection, now = Date.now }: SqliteRecordsOptions) {
    const database = new Kysely<Tables>({ dialect: groupCommitDialect(connection) });
    migrateRecords(connection.database, database);
    this.#commits = connection.commits;
    const engine: SqlEngine = {
      name: "sqlite",
      database,
      // Only this process takes, so its own clock will do: one that nobody can set.
      leaseClock: () => sql<number>`${Math.round(performance.now())}`,
      now,
      run: (work) => this.#run(work),
    };
    this.tasks = new SqlTaskRows(engine);
    this.deliveries = new SqlDeliveryRows(engine);
    this.blobs = new SqlBlobRows(engine);
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
