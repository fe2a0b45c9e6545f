import { type CompiledQuery, Kysely, PostgresDialect, sql } from "kysely";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { STEPS, type Step, type Tables } from "../../../src/stores/migrations/index.ts";
import { migratePostgres } from "../../../src/stores/postgres/postgres-migration.ts";
import { openSqlite } from "../../../src/stores/sqlite/connection.ts";
import { groupCommitDialect } from "../../../src/stores/sqlite/records-dialect.ts";
import { migrateRecords } from "../../../src/stores/sqlite/records-migration.ts";
import { runPeer } from "./peers.ts";
import { type Engine, NOW, openPostgresAt, postgresEngine, query, sqliteEngine } from "./rig.ts";

/** What the suite does to either engine from below. */
type Below = {
  migrate(place: string, steps: readonly Step[]): Promise<void>;
  query(place: string, text: string): Promise<readonly unknown[]>;
};

const belowSqlite: Below = {
  async migrate(place, steps) {
    const connection = await openSqlite(place);
    try {
      migrateRecords(connection.database, new Kysely<Tables>({ dialect: groupCommitDialect(connection) }), steps);
    } finally {
      connection.close();
    }
  },
  async query(place, text) {
    const { database, close } = await openSqlite(place);
    try {
      const statement = database.prepare(text);
      return statement.reader ? statement.all() : [statement.run()];
    } finally {
      close();
    }
  },
};

const belowPostgres: Below = {
  async migrate(place, steps) {
    const client = new pg.Client(place);
    await client.connect();
    const tables = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: new pg.Pool() }) });
    try {
      await migratePostgres(client, tables, steps);
    } finally {
      await client.end();
    }
  },
  query,
};

const OLD_TASK = `insert into tasks (id, principal, member, is_over, state, expires_at)
  values ('t1', 'ann', 'm1', 0, '{}', ${NOW + 1})`;
const OLD_DELIVERY = `insert into deliveries
  (id, channel, target, body, order_key, attempts, due_at, expires_at, last_error, leased_until, failed_at)
  values ('d1', 'hook', 't', 'b', 'o', 3, ${NOW}, ${NOW + 9}, 'e', 0, 0)`;

describe.each([
  ["SQLite", sqliteEngine, belowSqlite],
  ["PostgreSQL", postgresEngine, belowPostgres],
] as const)("migrations on %s", (_name, makeEngine, below) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await makeEngine();
  });
  afterAll(() => engine.stop());

  /** In a new SQLite file the tables are made with the first use. */
  async function openAndUse(place: string): Promise<void> {
    const { records, close } = await engine.open(place);
    await records.deliveries.count();
    await close();
  }

  test("lead from version 1 to the newest, with what is in it", async () => {
    const place = await engine.place();
    await below.migrate(place, STEPS.slice(0, 1));
    await below.query(place, OLD_TASK);
    await below.query(place, OLD_DELIVERY);
    const { records, close } = await engine.open(place, () => NOW);
    expect(await records.tasks.of("ann", 9)).toMatchObject([{ id: "t1", expiresAt: NOW + 1 }]);
    expect(await records.deliveries.take(NOW, 1, 1_000)).toMatchObject([{ id: "d1", attempts: 4, order: "o" }]);
    await close();
    const versions = await below.query(place, "select version, name from records_versions order by version");
    expect(versions).toEqual(STEPS.map(({ name }, index) => ({ version: index + 1, name })));
  });

  test("have nothing to do with a database that is up to date", async () => {
    const place = await engine.place();
    for (let round = 0; round < 2; round++) await openAndUse(place);
    expect(await below.query(place, "select version from records_versions")).toHaveLength(STEPS.length);
  });

  test("refuse a database that a newer program has used, and leave it alone", async () => {
    const place = await engine.place();
    await openAndUse(place);
    await below.query(place, "insert into records_versions (version, name) values (99, 'from the future')");
    await expect(engine.open(place)).rejects.toThrow(
      `The database has version 99, and this program knows only versions up to ${STEPS.length}`,
    );
  });

  test("happen all or not at all", async () => {
    const place = await engine.place();
    const statements: Step["statements"] = (database) =>
      [sql`create table half (id integer)`, sql`no statement`].map((text): CompiledQuery => text.compile(database));
    await expect(below.migrate(place, [...STEPS, { name: "bad", statements }])).rejects.toThrow();
    await expect(below.query(place, "select * from half")).rejects.toThrow();
    await expect(below.query(place, "select * from tasks")).rejects.toThrow();
    await (await engine.open(place)).close();
  });
});

describe("migrations of several processes", () => {
  let engine: Awaited<ReturnType<typeof postgresEngine>>;
  beforeAll(async () => {
    engine = await postgresEngine();
  });
  afterAll(() => engine.stop());

  test("wait for each other and all succeed", async () => {
    const url = await engine.place();
    const holder = new pg.Client(url);
    await holder.connect();
    await holder.query("begin; select pg_advisory_xact_lock(7236418210)");
    const opening = [openPostgresAt(url), openPostgresAt(url)];
    const waiting = "select count(*)::int as count from pg_locks where locktype = 'advisory' and not granted";
    await vi.waitFor(async () => expect(await query(url, waiting)).toEqual([{ count: 2 }]), { timeout: 10_000 });
    await holder.end();
    for (const { records } of await Promise.all(opening)) await records.close();
    expect(await query(url, "select version from records_versions")).toHaveLength(STEPS.length);
  });

  test("succeed in real processes that start at once", async () => {
    const url = await engine.place();
    const peers = await Promise.all([1, 2, 3].map(() => runPeer({ role: "open", place: url })));
    expect(peers).toEqual(["open over", "open over", "open over"]);
    expect(await query(url, "select version from records_versions")).toHaveLength(STEPS.length);
  });
});
