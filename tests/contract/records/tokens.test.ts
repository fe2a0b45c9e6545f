import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { TokenRow } from "../../../src/contract/index.ts";
import { type Engine, NOW, type OpenStore, postgresEngine, sqliteEngine } from "./rig.ts";

const row = (id: string, change: Partial<TokenRow> = {}): TokenRow => ({
  hash: `hash of ${id}`,
  id,
  tenant: "acme",
  user: "Ada \u{1F469} O'Hara",
  client: "editor",
  groups: ['a "quoted" one', "b"],
  scopes: ["read"],
  role: "operator",
  createdAt: NOW,
  createdBy: "local",
  makerNames: [{ id: "token:acme/root/1", user: "root", client: "", groups: ["a"], scopes: ["s"] }],
  makers: ["user:acme/root", 'user:acme/"quoted"'],
  namedBy: "tenant",
  expiresAt: NOW + 1_000,
  lastUsedAt: undefined,
  ...change,
});

const add = (added: TokenRow) => ({ table: "tokens", type: "add", row: added }) as const;
const remove = (id: string) => ({ table: "tokens", type: "remove", id }) as const;

describe.each([
  ["SQLite", sqliteEngine],
  ["PostgreSQL", postgresEngine],
])("tokens on %s", (_name, makeEngine: () => Promise<Engine>) => {
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

  const tokens = () => store.records.tokens;

  test("are found by hash and by id as they were written, also after a restart", async () => {
    const bare = row("b", { role: undefined, expiresAt: undefined, groups: [], scopes: [], client: "" });
    expect(await store.records.write([add(row("a")), add(bare)])).toBe(true);
    await store.close();
    store = await engine.open(place);
    expect(await tokens().find("hash of a")).toEqual(row("a"));
    expect(await tokens().get("b")).toEqual(bare);
    expect(await tokens().find("a")).toBeUndefined();
    expect(await tokens().find("HASH OF A")).toBeUndefined();
  });

  test("are listed by id, a page after the other", async () => {
    await store.records.write(["c", "a", "b", "B"].map((id) => add(row(id))));
    const ids = async (limit: number, after?: string) => (await tokens().list(limit, after)).map(({ id }) => id);
    expect(await ids(2)).toEqual(["B", "a"]);
    expect(await ids(10, "a")).toEqual(["b", "c"]);
  });

  test("are listed and counted for one tenant, without others' and, of those that count, without what is over", async () => {
    const others = [add(row("b", { tenant: "globex" })), add(row("e", { tenant: "Acme", expiresAt: undefined }))];
    const own = [add(row("a")), add(row("c", { expiresAt: undefined })), add(row("d", { expiresAt: NOW }))];
    await store.records.write([...others, ...own]);
    const ids = async (limit: number, after?: string) =>
      (await tokens().list(limit, after, "acme")).map(({ id }) => id);
    expect([await ids(2), await ids(2, "b"), await ids(2, "d")]).toEqual([["a", "c"], ["c", "d"], []]);
    expect(await Promise.all(["acme", "globex", "none"].map((tenant) => tokens().count(tenant, NOW)))).toEqual([
      2, 1, 0,
    ]);
  });

  test("that are removed are gone, and removing one that is not there writes nothing", async () => {
    await store.records.write([add(row("a"))]);
    expect(await store.records.write([remove("none")])).toBe(false);
    expect(await store.records.write([remove("a"), remove("none")])).toBe(false);
    expect(await tokens().get("a")).toBeDefined();
    expect(await store.records.write([remove("a")])).toBe(true);
    expect(await tokens().get("a")).toBeUndefined();
  });

  test("tell when they were last used", async () => {
    await store.records.write([add(row("a"))]);
    await tokens().touch("hash of a", NOW + 5.4);
    await tokens().touch("none", NOW);
    expect((await tokens().get("a"))?.lastUsedAt).toBe(NOW + 5);
  });

  test("are cleared away at their time; those without one stay", async () => {
    await store.records.write([
      add(row("a")),
      add(row("b", { expiresAt: NOW + 1_001 })),
      add(row("c", { expiresAt: undefined })),
    ]);
    expect(await tokens().expire(NOW + 1_000)).toBe(1);
    expect((await tokens().list(10)).map(({ id }) => id)).toEqual(["b", "c"]);
  });

  test("are refused where an engine could not keep them", async () => {
    await expect(store.records.write([add(row("a", { user: "a\0b" }))])).rejects.toMatchObject({ code: "BAD_CALL" });
  });
});
