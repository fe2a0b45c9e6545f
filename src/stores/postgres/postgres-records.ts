import { Kysely, PostgresDialect, sql } from "kysely";
import pg, { type Client, type ClientConfig } from "pg";
import { type Change, faultPoint, type Records } from "../../contract/index.ts";
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
import { Health } from "./health.ts";
import type { Postgres, PostgresOptions } from "./postgres.ts";
import { PostgresBlobBytes } from "./postgres-blob-bytes.ts";
import { clientConfig, POSTGRES_TIMES, scrubber } from "./postgres-config.ts";
import { isAway, openError, postgresError, reasonOf } from "./postgres-errors.ts";
import { migratePostgres } from "./postgres-migration.ts";
import { CalmClient, GuardedPool, MAX_CONNECTIONS } from "./postgres-pool.ts";

/** Migrations may wait for those of another process, and rewrite tables. */
const MIGRATION_MS = 120_000;

export async function connectPostgres(options: PostgresOptions): Promise<Postgres> {
  const times = options.times ?? POSTGRES_TIMES;
  const scrub = scrubber(options.url);
  const records = new PostgresRecords(options, clientConfig(options.url, times), scrub);
  const patient = { ...times, statementMs: MIGRATION_MS, answerMs: MIGRATION_MS };
  try {
    await withClient(clientConfig(options.url, patient), (client) => migratePostgres(client, records.engine.database));
  } catch (error) {
    await records.close();
    throw openError(options.url, error, scrub);
  }
  return { records, blobBytes: new PostgresBlobBytes(records.engine) };
}

class PostgresRecords implements Records {
  readonly engine: SqlEngine;
  readonly tasks: SqlTaskRows;
  readonly audit: SqlAuditRows;
  readonly deliveries: SqlDeliveryRows;
  readonly blobs: SqlBlobRows;
  readonly policy: SqlPolicyRows;
  readonly approvals: SqlApprovalRows;
  readonly upstreamTokens: SqlUpstreamTokenRows;
  readonly tokens: SqlTokenRows;
  readonly blocks: SqlBlockRows;
  readonly #health: Health;
  readonly #scrub: (text: string) => string;
  readonly #pool: GuardedPool;
  #closing: Promise<void> | undefined;

  constructor(options: PostgresOptions, config: ClientConfig, scrub: (text: string) => string) {
    this.#scrub = scrub;
    // A connection of its own: those of the pool may all be the ones that hang.
    const probe = () => withClient(config, (client) => client.query("select 1")).then(() => true);
    this.#health = new Health({ store: "postgres", timers: options.timers, log: options.log, probe });
    const pool = new pg.Pool({ ...config, Client: CalmClient, max: MAX_CONNECTIONS, allowExitOnIdle: true });
    this.#pool = new GuardedPool(pool, (error) => this.#failed(error));
    this.engine = {
      name: "postgres",
      database: new Kysely<Tables>({ dialect: new PostgresDialect({ pool: this.#pool }) }),
      leaseClock: () => sql<number>`(extract(epoch from statement_timestamp()) * 1000)::bigint`,
      now: options.now ?? Date.now,
      run: (work) => this.#run(work),
    };
    this.audit = new SqlAuditRows(this.engine);
    this.tasks = new SqlTaskRows(this.engine);
    this.deliveries = new SqlDeliveryRows(this.engine);
    this.blobs = new SqlBlobRows(this.engine);
    this.policy = new SqlPolicyRows(this.engine);
    this.approvals = new SqlApprovalRows(this.engine);
    this.upstreamTokens = new SqlUpstreamTokenRows(this.engine);
    this.tokens = new SqlTokenRows(this.engine);
    this.blocks = new SqlBlockRows(this.engine);
  }

  async write(changes: readonly Change[]): Promise<boolean> {
    const statements = statementsOf(this.engine, changes);
    faultPoint("records.changes.writing");
    const isWritten = await this.#run(() => this.#runAll(statements).catch(missed));
    faultPoint("records.changes.written");
    return isWritten;
  }

  #runAll(statements: ReturnType<typeof statementsOf>): Promise<boolean> {
    return this.engine.database.transaction().execute(async (transaction) => {
      for (const { query, mustFind } of statements) {
        const { numAffectedRows = 0n } = await transaction.executeQuery(query);
        if (mustFind && numAffectedRows === 0n) throw new Missed();
      }
      return true;
    });
  }

  /** PostgreSQL acknowledges what is on its disk. */
  sync(): Promise<void> {
    return Promise.resolve();
  }

  get isUp(): boolean {
    return this.#health.isUp;
  }

  onHealth(listener: (isUp: boolean) => void): () => void {
    return this.#health.listen(listener);
  }

  close(): Promise<void> {
    this.#health.close();
    this.#closing ??= this.#pool.end().catch(() => undefined);
    return this.#closing;
  }

  // While it is away nobody tries: each would wait for a time limit, and only the probe can tell.
  async #run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (!this.#health.isUp) throw this.#health.refusal();
    try {
      return await work();
    } catch (error) {
      this.#failed(error);
      throw postgresError(error, this.#scrub);
    }
  }

  #failed(error: unknown): void {
    if (isAway(error)) this.#health.down(reasonOf(error, this.#scrub));
  }
}

async function withClient<Result>(config: ClientConfig, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new CalmClient(config);
  try {
    await client.connect();
    return await work(client);
  } finally {
    // Not waited for: a server that stands still does not say goodbye.
    client.end().catch(() => undefined);
  }
}
