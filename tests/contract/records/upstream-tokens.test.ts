import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Records, UpstreamToken } from "../../../src/contract/index.ts";
import { type Engine, NOW, type OpenStore, postgresEngine, sqliteEngine } from "./rig.ts";

const token = (id: string, changes: Partial<UpstreamToken> = {}): UpstreamToken => ({
  id,
  server: "crm",
  tenant: "acme",
  client: "hash",
  user: "ann",
  principal: "p",
  session: "",
  riskClass: 3,
  scopes: "read write",
  audience: "https://crm.example/mcp",
  expiresAt: NOW + 1000,
  ciphertext: "c",
  wrappedKey: "w",
  nonce: "n",
  keyId: "local:1",
  ...changes,
});

const put = (one: UpstreamToken, ifVersion?: number) =>
  ({ table: "upstreamTokens", type: "put", token: one, ...(ifVersion !== undefined && { ifVersion }) }) as const;
const lease = (id: string, ifVersion: number) =>
  ({ table: "upstreamTokens", type: "lease", id, ifVersion, until: NOW + 500 }) as const;

describe.each([
  ["SQLite", sqliteEngine],
  ["PostgreSQL", postgresEngine],
])("tokens of servers on %s", (_name, makeEngine: () => Promise<Engine>) => {
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

  test("are kept as they were given, and grow a version with each writing", async () => {
    expect(await records.write([put(token("a")), put(token("a", { scopes: "all" }))])).toBe(true);
    await store.close();
    store = await engine.open(place, () => NOW);
    const found = await store.records.upstreamTokens.get("a");
    expect(found).toEqual({ ...token("a", { scopes: "all" }), version: 2, leasedUntil: 0 });
    expect(await store.records.upstreamTokens.get("b")).toBeUndefined();
  });

  test("are written only where they are as they were", async () => {
    expect(await records.write([put(token("a"), 0)])).toBe(true);
    expect(await records.write([put(token("a"), 0)])).toBe(false);
    expect(await records.write([put(token("a"), 2)])).toBe(false);
    expect(await records.write([put(token("a"), 1)])).toBe(true);
    expect(await records.write([put(token("gone"), 1)])).toBe(false);
  });

  test("are leased by one of many, and free again when they are written", async () => {
    await records.write([put(token("a"))]);
    const tries = await Promise.all(Array.from({ length: 8 }, () => records.write([lease("a", 1)])));
    expect(tries.filter((isOurs) => isOurs)).toHaveLength(1);
    expect(await records.upstreamTokens.get("a")).toMatchObject({ version: 2, leasedUntil: NOW + 500 });
    await records.write([put(token("a"), 2)]);
    expect(await records.upstreamTokens.get("a")).toMatchObject({ version: 3, leasedUntil: 0 });
  });

  test("are found by whom they are for, as long as they last, and removed", async () => {
    await records.write([put(token("a")), put(token("b", { user: "bob", session: "s", riskClass: 2 }))]);
    await records.write([put(token("c", { server: "files" })), put(token("d", { expiresAt: NOW }))]);
    const ids = async (filter: object, limit = 10) =>
      (await records.upstreamTokens.find(filter, NOW, limit)).map(({ id }) => id);
    expect(await ids({})).toEqual(["a", "b", "c"]);
    expect(await ids({}, 2)).toEqual(["a", "b"]);
    expect((await records.upstreamTokens.find({}, NOW, 2, "a")).map(({ id }) => id)).toEqual(["b", "c"]);
    expect(await ids({ user: "ann", server: "crm" })).toEqual(["a"]);
    expect(await ids({ session: "s" })).toEqual(["b"]);
    expect(await ids({ principal: "p", user: "bob" })).toEqual(["b"]);
    expect(await ids({ tenant: "other" })).toEqual([]);
    const removals = [{ table: "upstreamTokens", type: "remove", id: "a" } as const];
    expect(await records.write([...removals, ...removals])).toBe(true);
    expect(await ids({})).toEqual(["b", "c"]);
  });

  test("[AP-118] are forgotten when they have expired", async () => {
    await records.write([put(token("a")), put(token("b", { expiresAt: NOW + 2000 }))]);
    expect(await records.upstreamTokens.expire(NOW + 1000)).toBe(1);
    expect(await records.upstreamTokens.get("a")).toBeUndefined();
    expect(await records.upstreamTokens.get("b")).toBeDefined();
  });
});
