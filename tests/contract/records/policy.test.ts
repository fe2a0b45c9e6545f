import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { PolicyChange } from "../../../src/contract/index.ts";
import { MemoryPolicy } from "../../../src/mechanisms/access/index.ts";
import { type Engine, NOW, type OpenStore, postgresEngine, sqliteEngine } from "./rig.ts";

const put = (key: string, ifVersion?: number): PolicyChange => ({
  table: "policy",
  type: "put",
  entry: { tenant: "acme", kind: "grant", key, value: `{"of":"${key}"}`, updatedAt: NOW, updatedBy: "ops" },
  ...(ifVersion !== undefined && { ifVersion }),
});
const remove = (key: string): PolicyChange => ({ table: "policy", type: "remove", tenant: "acme", kind: "grant", key });

type Kept = Pick<OpenStore["records"], "write" | "policy">;

describe.each([
  ["SQLite", sqliteEngine],
  ["PostgreSQL", postgresEngine],
])("policy on %s", (_name, makeEngine: () => Promise<Engine>) => {
  let engine: Engine;
  let place: string;
  let store: OpenStore;

  beforeAll(async () => {
    engine = await makeEngine();
  });
  afterAll(() => engine.stop());
  beforeEach(async () => {
    place = await engine.place();
    store = await engine.open(place);
  });
  afterEach(() => store.close());

  test("is there again after a restart, also where nothing but its version was asked before [AP-550]", async () => {
    expect(await store.records.policy.version()).toBe(0);
    await store.records.write([put("a"), put("b"), remove("a")]);
    await store.close();
    store = await engine.open(place);
    expect(await store.records.policy.version()).toBe(3);
    expect(await store.records.policy.load()).toMatchObject({ version: 3, entries: [{ key: "b", updatedBy: "ops" }] });
  });

  test("does the same as where it is kept in memory", async () => {
    const memory = new MemoryPolicy();
    const kept: readonly Kept[] = [
      { policy: store.records.policy, write: (changes) => store.records.write(changes) },
      { policy: memory, write: (changes) => memory.write(changes) },
    ];
    const tries: readonly (readonly PolicyChange[])[] = [
      [put("a", 0)],
      [put("b", 0)],
      [put("b", 1), remove("nothing")],
      [remove("a"), put("c")],
      [put("c", 3)],
      [remove("c")],
      [remove("c")],
    ];
    for (const changes of tries) {
      const [stored, remembered] = await Promise.all(kept.map(({ write }) => write(changes)));
      expect(stored).toBe(remembered);
      const [tables, inMemory] = await Promise.all(kept.map(({ policy }) => policy.load()));
      expect(tables).toEqual(inMemory);
    }
  });

  test("is changed once by those who saw the same version", async () => {
    await store.records.write([put("first")]);
    const written = await Promise.all(["a", "b", "c"].map((key) => store.records.write([put(key, 1)])));
    expect(written.filter(Boolean)).toHaveLength(1);
    expect(await store.records.policy.version()).toBe(2);
  });
});
