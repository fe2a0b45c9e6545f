import { setTimeout as wait } from "node:timers/promises";
import { inspect } from "node:util";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { GatewayError, type Records } from "../../../src/contract/index.ts";
import { KeptLog } from "../../kit/quiet.ts";
import type { TestServer } from "../../kit/servers/test-server.ts";
import { makeDelivery, openMailbox } from "./mail.ts";
import { runPeer } from "./peers.ts";
import { delivery, NOW, newDatabase, openPostgresAt, postgresEngine, query, task } from "./rig.ts";

/** Only where a server that never answers must be found out: one that is merely slow is then taken for away, too. */
const SHORT = { connectMs: 300, statementMs: 300, answerMs: 500 };
const AWAY = { code: "STATE_UNAVAILABLE", details: { store: "postgres" } };

let server: TestServer;
beforeAll(async () => {
  ({ server } = await postgresEngine());
});
afterAll(() => server.stop());

const healthOf = (records: Records, wanted: boolean) =>
  new Promise<void>((resolve) => {
    const end = records.onHealth((isUp) => {
      if (isUp !== wanted) return;
      end();
      resolve();
    });
  });

/** Asks until the store answers: on a busy machine one with short times is away now and then. */
async function answered<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!GatewayError.is(error) || error.code !== "STATE_UNAVAILABLE") throw error;
    }
    await wait(20);
  }
}

async function openShort(): Promise<{ url: string; records: Records }> {
  const url = await newDatabase(server);
  return { url, records: (await answered(() => openPostgresAt(url, { times: SHORT }))).records };
}

describe("several processes at one PostgreSQL", () => {
  let url: string;
  beforeEach(async () => {
    url = await newDatabase(server);
  });

  test("share the messages, each sent by one, those of an order one after the other", async () => {
    const { records } = await openPostgresAt(url);
    await query(url, "create table notes (at serial, id text, order_key text, process int)");
    const ids = Array.from({ length: 90 }, (_, index) => `d${String(index).padStart(3, "0")}`);
    for (const [index, id] of ids.entries()) {
      await records.deliveries.add(delivery(id, { order: index % 3 === 0 ? "" : `o${index % 3}` }));
    }
    await Promise.all([1, 2, 3].map(() => runPeer({ role: "take", place: url })));
    await records.close();
    const notes = await query(url, "select id, order_key from notes order by at");
    expect(notes.map(({ id }) => id).sort()).toEqual(ids);
    for (const order of ["o1", "o2"]) {
      const sent = notes.filter(({ order_key }) => order_key === order).map(({ id }) => id);
      expect(sent).toEqual([...sent].sort());
    }
  });

  test("pass over what another is about to take, without waiting for it", async () => {
    const { records } = await openPostgresAt(url);
    for (const id of ["a", "b"]) await records.deliveries.add(delivery(id));
    const other = new pg.Client(url);
    await other.connect();
    await other.query("begin; select * from deliveries where id = 'a' for update");
    expect(await records.deliveries.take(NOW, 10, 1_000)).toMatchObject([{ id: "b" }]);
    await other.end();
    await records.close();
  });

  test("add to one order in the order in which the messages become visible", async () => {
    const { records } = await openPostgresAt(url);
    const other = new pg.Client(url);
    await other.connect();
    await other.query("begin; select pg_advisory_xact_lock(hashtextextended('delivery:o', 0))");
    const adding = records.deliveries.add(delivery("a", { order: "o" }));
    await records.deliveries.add(delivery("free", { order: "p" }));
    expect(await records.deliveries.count()).toBe(1);
    await other.query("commit");
    await adding;
    expect(await records.deliveries.count()).toBe(2);
    await other.end();
    await records.close();
  });
});

describe("a PostgreSQL that fails", () => {
  test("killed: refuses at once, comes back by itself, and has what was acknowledged", async () => {
    const { records } = await openPostgresAt(await newDatabase(server));
    await records.tasks.put(task());
    const down = healthOf(records, false);
    await server.kill();
    await down;
    expect(records.isUp).toBe(false);
    await expect(records.tasks.get("t1")).rejects.toMatchObject(AWAY);
    const up = healthOf(records, true);
    await server.restart();
    await up;
    expect(await records.tasks.get("t1")).toEqual(task());
    await records.close();
  });

  test("standing still: refuses in bounded time, and serves when it goes on", async () => {
    const { records } = await openShort();
    const ids = Array.from({ length: 12 }, (_, index) => `t${index}`);
    await Promise.all(ids.map((id) => answered(() => records.tasks.put(task({ id })))));
    server.pause();
    try {
      const asked = await Promise.allSettled(Array.from({ length: 30 }, () => records.tasks.get("t1")));
      for (const { status } of asked) expect(status).toBe("rejected");
      for (const one of asked) expect(one).toMatchObject({ reason: AWAY });
      await expect(records.tasks.put(task({ id: "new" }))).rejects.toMatchObject(AWAY);
    } finally {
      server.resume();
    }
    expect(await answered(() => records.tasks.get("t1"))).toEqual(task());
    await answered(() => records.tasks.put(task({ id: "new" })));
    await records.close();
  });

  test("one connection that stands still is replaced, and not asked again", async () => {
    const { url, records } = await openShort();
    await answered(() => records.tasks.put(task()));
    const ours = "select pid from pg_stat_activity where application_name = 'isthmus' and datname = current_database()";
    const [{ pid } = {}] = await query(url, ours);
    process.kill(Number(pid), "SIGSTOP");
    try {
      const up = healthOf(records, true);
      await expect(records.tasks.get("t1")).rejects.toMatchObject(AWAY);
      await up;
      expect(await answered(() => records.tasks.get("t1"))).toEqual(task());
    } finally {
      process.kill(Number(pid), "SIGCONT");
    }
    await records.close();
  });

  test("killed in the middle of a send: the message that arrived is not sent again", async () => {
    const mailbox = await openMailbox();
    const url = await newDatabase(server);
    const { records } = await openPostgresAt(url);
    const delivery = makeDelivery({ records }, { beforePost: () => server.kill(), leaseMs: 100 });
    delivery.start();
    await delivery.add({ channel: "hook", target: mailbox.url, body: "hello", ttlMs: 600_000 });
    await vi.waitFor(() => expect(mailbox.got).toHaveLength(1), { timeout: 10_000 });
    await server.restart();
    await vi.waitFor(async () => expect(await records.deliveries.count()).toBe(0), { timeout: 10_000 });
    await delivery.close();
    expect(mailbox.got).toHaveLength(1);
    await records.close();
    await mailbox.close();
  });

  test("standing still: closing ends all the same", async () => {
    const { records } = await openShort();
    await answered(() => records.tasks.put(task()));
    server.pause();
    try {
      await records.close();
      await records.close();
    } finally {
      server.resume();
    }
  });

  test("not there at the start: says so, with no word of the password", async () => {
    const url = `postgres://test:p%40ssword-9@127.0.0.1:1/none`;
    const error = await openPostgresAt(url, { times: SHORT }).catch((caught: unknown) => caught);
    expect(error).toMatchObject(AWAY);
    expect(inspect(error, { depth: 9, showHidden: true })).not.toMatch(/p%40ssword-9|p@ssword-9/);
  });

  test("refuses a URL that is none, with no word of it", async () => {
    const error = await openPostgresAt("postgres://test:p@ssw:ord-9@[::/none").catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: "STATE_UNAVAILABLE" });
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain("ord-9");
  });

  test("says nothing of the password when it goes away and comes back", async () => {
    const log = new KeptLog();
    const url = (await newDatabase(server)).replace("test@", "test:p%40ssword-9@");
    const { records } = await openPostgresAt(url, { log });
    await records.tasks.put(task());
    const [down, up] = [healthOf(records, false), healthOf(records, true)];
    await server.kill();
    await down;
    const error = await records.tasks.get("t1").catch((caught: unknown) => caught);
    await server.restart();
    await up;
    expect(log.lines.map(({ message }) => message)).toEqual(["store does not answer", "store answers again"]);
    expect(inspect([error, log.lines, records], { depth: 9 })).not.toMatch(/p%40ssword-9|p@ssword-9/);
    await records.close();
  });

  test("a statement that takes too long ends as unavailable, and the store stays up", async () => {
    const url = await newDatabase(server);
    const { records } = await openPostgresAt(url, { times: { connectMs: 10_000, statementMs: 300, answerMs: 10_000 } });
    const other = new pg.Client(url);
    await other.connect();
    await answered(() => records.tasks.put(task()));
    await other.query("begin; lock table tasks");
    await expect(records.tasks.get("t1")).rejects.toMatchObject(AWAY);
    expect(records.isUp).toBe(true);
    await other.query("commit");
    expect(await answered(() => records.tasks.get("t1"))).toEqual(task());
    await other.end();
    await records.close();
  });
});
