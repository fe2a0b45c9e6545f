import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { Block, Delivery, Records } from "../../../src/contract/index.ts";
import { delivery, type Engine, NOW, type OpenStore, postgresEngine, sqliteEngine, task } from "./rig.ts";

describe.each([
  ["SQLite", sqliteEngine],
  ["PostgreSQL", postgresEngine],
])("records on %s", (_name, makeEngine: () => Promise<Engine>) => {
  let engine: Engine;
  let place: string;
  let store: OpenStore;
  let records: Records;

  beforeAll(async () => {
    engine = await makeEngine();
  });
  afterAll(() => engine.stop());
  beforeEach(async () => {
    place = await engine.place();
    store = await engine.open(place, () => NOW);
    records = store.records;
  });
  afterEach(() => store.close());

  const reopen = async () => {
    await store.close();
    store = await engine.open(place, () => NOW);
    records = store.records;
  };
  const takeIds = async (limit = 10, now = NOW, leaseMs = 60_000) =>
    (await records.deliveries.take(now, limit, leaseMs)).map(({ id }) => id);
  const add = async (...all: Delivery[]) => {
    for (const one of all) await records.deliveries.add(one);
  };

  describe("changes", () => {
    const entry = (key: string, value = "{}") =>
      ({ tenant: "t", kind: "grant", key, value, updatedAt: NOW, updatedBy: "ops" }) as const;
    const put = (key: string, value?: string, ifVersion?: number) =>
      ({
        table: "policy",
        type: "put",
        entry: entry(key, value),
        ...(ifVersion !== undefined && { ifVersion }),
      }) as const;

    test("are written together, and each makes a new version", async () => {
      expect(await records.policy.load()).toEqual({ version: 0, entries: [] });
      expect(await records.write([put("b"), put("a")])).toBe(true);
      expect(await records.write([put("a", "[1]")])).toBe(true);
      await reopen();
      expect(await records.policy.load()).toEqual({ version: 3, entries: [entry("a", "[1]"), entry("b")] });
    });

    test("are not written at all where one of them misses its row", async () => {
      await records.write([put("a")]);
      const gone = { table: "policy", type: "remove", tenant: "t", kind: "grant", key: "none" } as const;
      expect(await records.write([put("b"), gone])).toBe(false);
      expect(await records.write([put("b"), put("c", "{}", 1)])).toBe(false);
      expect(await records.policy.load()).toEqual({ version: 1, entries: [entry("a")] });
      expect(await records.write([put("b", "{}", 1)])).toBe(true);
      expect(await records.write([{ ...gone, key: "a" }])).toBe(true);
      expect(await records.policy.load()).toEqual({ version: 3, entries: [entry("b")] });
    });

    test("of two that take the same version only one is written", async () => {
      const both = await Promise.all([records.write([put("a", "1", 0)]), records.write([put("a", "2", 0)])]);
      expect(both.filter(Boolean)).toHaveLength(1);
      expect(await records.policy.version()).toBe(1);
    });
  });

  describe("blocks", () => {
    const block = (id: string, more: Partial<Block> = {}): Block => ({
      ...{ id, subject: "client", key: "k", tenant: "t", server: "", protocol: "", primitive: "" },
      ...{ reason: "'; drop table blocks; --", createdAt: NOW, createdBy: "ops", until: NOW + 1_000 },
      ...more,
    });
    const put = (one: Block) => ({ table: "blocks", type: "put", block: one }) as const;
    const ids = async (now = NOW) => (await records.blocks.load(now, 10)).blocks.map(({ id }) => id);

    test("are there after the store was opened again, oldest first, until they are over [AP-142]", async () => {
      await records.write([put(block("b")), put(block("a", { createdAt: NOW + 1, until: NOW + 2_000 }))]);
      await reopen();
      expect(await records.blocks.load(NOW, 10)).toEqual({
        version: 2,
        blocks: [block("b"), block("a", { createdAt: NOW + 1, until: NOW + 2_000 })],
      });
      expect(await ids(NOW + 1_000)).toEqual(["a"]);
      expect((await records.blocks.load(NOW, 1)).blocks).toHaveLength(1);
    });

    test("take the place of the one with the same id, and are removed once", async () => {
      await records.write([put(block("a"))]);
      await records.write([put(block("a", { reason: "again" }))]);
      expect((await records.blocks.load(NOW, 10)).blocks).toEqual([block("a", { reason: "again" })]);
      const gone = { table: "blocks", type: "remove", id: "a" } as const;
      expect([await records.write([gone]), await records.write([gone])]).toEqual([true, false]);
      expect([await ids(), await records.blocks.version()]).toEqual([[], 3]);
    });

    test("are told by what has changed since a version, each once, as it is now", async () => {
      await records.write([put(block("a")), put(block("b"))]);
      await records.write([put(block("a", { reason: "again" }))]);
      await records.write([{ table: "blocks", type: "remove", id: "b" }]);
      const again = block("a", { reason: "again" });
      expect(await records.blocks.changes(2)).toEqual({ version: 4, blocks: [again], gone: ["b"] });
      expect(await records.blocks.changes(4)).toEqual({ version: 4, blocks: [], gone: [] });
      expect(await records.blocks.changes(5)).toBeUndefined();
    });

    test("tell nothing of what has changed where that is too long ago", async () => {
      const many = Array.from({ length: 1_001 }, () => put(block("a")));
      await records.write(many);
      expect(await records.blocks.changes(0)).toBeUndefined();
      expect(await records.blocks.changes(1)).toMatchObject({ version: 1_001, blocks: [block("a")] });
    });

    test("that are over are forgotten", async () => {
      await records.write([put(block("a")), put(block("b", { until: NOW + 2_000 }))]);
      expect(await records.blocks.expire(NOW + 1_000)).toBe(1);
      expect(await ids()).toEqual(["b"]);
    });
  });

  describe("tasks", () => {
    test("gives back what was put, also after the store was opened again", async () => {
      const row = task({ state: '{"words":"\\u0000 ✓ 🧪 \'\\""}', isOver: true });
      await records.tasks.put(row);
      await reopen();
      expect(await records.tasks.get("t1")).toEqual(row);
      expect(await records.tasks.get("t2")).toBeUndefined();
    });

    test("put replaces a row of the same id", async () => {
      await records.tasks.put(task());
      await records.tasks.put(task({ member: "m2", state: "[]" }));
      expect(await records.tasks.get("t1")).toEqual(task({ member: "m2", state: "[]" }));
    });

    test("lets only its member write, and only until it is over", async () => {
      await records.tasks.put(task());
      expect(await records.tasks.update(task({ member: "m2", state: "foreign" }))).toBe(false);
      expect(await records.tasks.update(task({ state: "own", expiresAt: NOW + 5 }))).toBe(true);
      expect(await records.tasks.update(task({ state: "end", isOver: true }))).toBe(true);
      expect(await records.tasks.update(task({ state: "late" }))).toBe(false);
      expect(await records.tasks.update(task({ id: "t2" }))).toBe(false);
      expect(await records.tasks.get("t1")).toEqual(task({ state: "end", isOver: true }));
    });

    test("of two that end it at once, one wins", async () => {
      await records.tasks.put(task());
      const wins = await Promise.all(
        ["a", "b", "c", "d"].map((state) => records.tasks.update(task({ state, isOver: true }))),
      );
      expect(wins.filter(Boolean)).toHaveLength(1);
    });

    test("lists a principal's that have not expired, newest first, in pages and without results", async () => {
      for (const id of ["z", "a", "m"]) await records.tasks.put(task({ id }));
      await records.tasks.put(task({ id: "old", expiresAt: NOW }));
      await records.tasks.put(task({ id: "other", principal: "bob" }));
      await records.tasks.update(task({ id: "z", state: "touched", result: "long" }));
      const page = await records.tasks.of("ann", 2);
      const rest = await records.tasks.of("ann", 2, page.at(-1)?.sequence);
      expect([page, rest].map((rows) => rows.map(({ id }) => id))).toEqual([["m", "a"], ["z"]]);
      expect(rest[0]).not.toHaveProperty("result");
      expect(await records.tasks.get("z")).toMatchObject({ state: "touched", result: "long" });
    });

    test("forgets the oldest of a principal's that are over, by number and by length, and no others", async () => {
      await records.tasks.put(task({ id: "open" }));
      await records.tasks.put(task({ id: "foreign", principal: "bob", isOver: true, result: "xxxxx" }));
      for (const id of ["a", "b", "c", "d"]) await records.tasks.put(task({ id, isOver: true, result: "xxxxx" }));
      const ids = async () => (await records.tasks.of("ann", 9)).map(({ id }) => id);
      await records.tasks.trim("ann", { rows: 4, characters: 20 });
      expect(await ids()).toEqual(["d", "c", "b", "a", "open"]);
      await records.tasks.trim("ann", { rows: 3, characters: 20 });
      expect(await ids()).toEqual(["d", "c", "b", "open"]);
      await records.tasks.trim("ann", { rows: 3, characters: 14 });
      expect(await ids()).toEqual(["d", "c", "open"]);
      expect(await records.tasks.get("foreign")).toBeDefined();
    });

    test("forgets the oldest of a principal's that are not over and say the same of themselves, and no others", async () => {
      await records.tasks.put(task({ id: "foreign", principal: "bob", state: '{"kind":"x"}' }));
      await records.tasks.put(task({ id: "kept", state: '{"kind":"y"}' }));
      await records.tasks.put(task({ id: "over", state: '{"kind":"x"}', isOver: true }));
      for (const id of ["a", "b", "c"]) await records.tasks.put(task({ id, state: '{"kind":"x","id":"_%"}' }));
      await records.tasks.trimOpen("ann", 2, '{"kind":"x"');
      expect((await records.tasks.of("ann", 9)).map(({ id }) => id)).toEqual(["c", "b", "over", "kept"]);
      expect(await records.tasks.get("foreign")).toBeDefined();
    });

    test("forgets what is dropped and what has expired", async () => {
      for (const [id, expiresAt] of [
        ["a", NOW - 1],
        ["b", NOW],
        ["c", NOW + 1],
        ["d", NOW + 2],
      ] as const)
        await records.tasks.put(task({ id, expiresAt }));
      expect(await records.tasks.expire(NOW)).toBe(2);
      await records.tasks.drop("d");
      await records.tasks.drop("never there");
      expect((await records.tasks.of("ann", 9)).map(({ id }) => id)).toEqual(["c"]);
      expect(await records.tasks.get("a")).toBeUndefined();
    });

    test("refuses a text that not every engine can keep", async () => {
      await expect(records.tasks.put(task({ state: "a\0b" }))).rejects.toMatchObject({ code: "BAD_CALL" });
    });
  });

  describe("deliveries", () => {
    test("gives what is due, as it was added, and counts the attempt", async () => {
      const whole = delivery("a", { target: "https://x/", body: '{"é":"\\u0000"}', order: "o", lastError: "was" });
      await add(whole, delivery("later", { dueAt: NOW + 1 }));
      expect(await records.deliveries.count()).toBe(2);
      expect(await records.deliveries.take(NOW, 10, 60_000)).toEqual([{ ...whole, attempts: 1 }]);
    });

    test("gives no more than was asked for", async () => {
      await add(...["a", "b", "c"].map((id) => delivery(id)));
      expect(await takeIds(2)).toEqual(["a", "b"]);
      expect(await takeIds(0)).toEqual([]);
      expect(await takeIds(2)).toEqual(["c"]);
    });

    test("gives what is leased to nobody else, however far the wall clock jumps", async () => {
      await add(delivery("a"));
      expect(await takeIds()).toEqual(["a"]);
      expect(await takeIds(10, NOW + 10 ** 11)).toEqual([]);
    });

    test("gives it again when the lease has run out", async () => {
      await add(delivery("a"));
      expect(await takeIds(10, NOW, 20)).toEqual(["a"]);
      await vi.waitFor(async () => expect(await takeIds()).toEqual(["a"]), { timeout: 5_000 });
    });

    test("adding one again changes nothing", async () => {
      await add(delivery("a", { body: "first" }), delivery("a", { body: "second" }));
      expect(await records.deliveries.take(NOW, 10, 60_000)).toMatchObject([{ body: "first" }]);
      expect(await records.deliveries.count()).toBe(1);
    });

    test("gives of one order only the oldest, until it is done or given up", async () => {
      await add(...["a1", "a2", "a3"].map((id) => delivery(id, { order: "a" })), delivery("b1", { order: "b" }));
      expect(await takeIds()).toEqual(["a1", "b1"]);
      await records.deliveries.retry("a1", NOW + 50, "not now");
      expect(await takeIds(10, NOW + 49)).toEqual([]);
      expect(await takeIds(10, NOW + 50)).toEqual(["a1"]);
      await records.deliveries.done("a1");
      expect(await takeIds()).toEqual(["a2"]);
      await records.deliveries.fail("a2", "never");
      expect(await takeIds()).toEqual(["a3"]);
    });

    test("keeps when to try again and why", async () => {
      await add(delivery("a"));
      await takeIds();
      await records.deliveries.retry("a", NOW + 7, "refused");
      await reopen();
      expect(await takeIds(10, NOW + 6)).toEqual([]);
      expect(await records.deliveries.take(NOW + 7, 1, 60_000)).toMatchObject([
        { id: "a", attempts: 2, dueAt: NOW + 7, lastError: "refused" },
      ]);
    });

    test("a late word about a former attempt changes nothing", async () => {
      await add(delivery("a"));
      await takeIds(10, NOW, 0);
      await vi.waitFor(async () => expect(await takeIds()).toEqual(["a"]), { timeout: 5_000 });
      await records.deliveries.retry("a", NOW, "late", 1);
      await records.deliveries.fail("a", "late", 1);
      expect(await takeIds()).toEqual([]);
      await records.deliveries.retry("a", NOW, "mine", 2);
      expect(await records.deliveries.take(NOW, 1, 60_000)).toMatchObject([{ attempts: 3, lastError: "mine" }]);
    });

    test("keeps what was given up, newest first, and never gives it", async () => {
      await add(...["a", "b", "c"].map((id) => delivery(id)));
      await records.deliveries.fail("a", "gone");
      await records.deliveries.fail("c", "gone, too");
      await records.deliveries.fail("a", "said again");
      expect(await records.deliveries.failed(10)).toMatchObject([
        { id: "c", lastError: "gone, too" },
        { id: "a", lastError: "gone" },
      ]);
      expect(await records.deliveries.failed(1)).toHaveLength(1);
      expect(await takeIds()).toEqual(["b"]);
      expect(await records.deliveries.count()).toBe(1);
    });

    test("many that take at once never get the same", async () => {
      await add(
        ...Array.from({ length: 60 }, (_, index) => delivery(`d${index}`, { order: index % 2 ? "" : `${index % 6}` })),
      );
      const taken = (await Promise.all(Array.from({ length: 20 }, () => takeIds(5)))).flat();
      expect(new Set(taken).size).toBe(taken.length);
      // 30 without an order, and the first of each of the three orders.
      expect(taken.length).toBeLessThanOrEqual(33);
      expect((await takeIds(100)).length + taken.length).toBe(33);
    });
  });

  describe("blobs", () => {
    const facts = (id: string) => ({ id, bytes: 2 ** 40, digest: "d".repeat(64), type: "text/plain", createdAt: NOW });

    test("keeps facts until they are dropped", async () => {
      await records.blobs.add(facts("a"));
      await records.blobs.add({ ...facts("a"), bytes: 1 });
      await reopen();
      expect(await records.blobs.get("a")).toEqual(facts("a"));
      expect(await records.blobs.drop("a")).toBe(true);
      expect(await records.blobs.drop("a")).toBe(false);
      expect(await records.blobs.get("a")).toBeUndefined();
    });

    test("lists them by the bytes of their ids, a page at a time", async () => {
      for (const id of ["b", "a", "B", "é", "z"]) await records.blobs.add(facts(id));
      const ids = async (limit: number, after?: string) => (await records.blobs.list(limit, after)).map(({ id }) => id);
      expect(await ids(2)).toEqual(["B", "a"]);
      expect(await ids(10, "a")).toEqual(["b", "z", "é"]);
    });
  });

  test("a store that was closed says so", async () => {
    await store.close();
    await expect(records.tasks.get("t1")).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
    expect(records.isUp).toBe(false);
  });
});
