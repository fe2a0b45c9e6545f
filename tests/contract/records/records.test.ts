import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { Delivery, Records } from "../../../src/contract/index.ts";
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

    test("lists a principal's that have not expired, oldest first", async () => {
      for (const id of ["z", "a", "m"]) await records.tasks.put(task({ id }));
      await records.tasks.put(task({ id: "old", expiresAt: NOW }));
      await records.tasks.put(task({ id: "other", principal: "bob" }));
      await records.tasks.update(task({ id: "z", state: "touched" }));
      expect((await records.tasks.of("ann")).map(({ id }) => id)).toEqual(["z", "a", "m"]);
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
      expect((await records.tasks.of("ann")).map(({ id }) => id)).toEqual(["c"]);
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
