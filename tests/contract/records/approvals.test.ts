import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Approval, ApprovalChange, ApprovalRows, ApprovalState, Change } from "../../../src/contract/index.ts";
import { MemoryApprovals } from "../../../src/stores/memory/index.ts";
import { type Engine, NOW, type OpenStore, postgresEngine, sqliteEngine } from "./rig.ts";

type Kept = { readonly rows: ApprovalRows; write(changes: readonly Change[]): Promise<boolean> };

const approval = (id: string, more: Partial<Approval> = {}): Approval => ({
  ...{ id, tenant: "t", principal: "agent", user: "u", client: "c", server: "plant", name: "open", tool: "plant.open" },
  ...{ digest: "d", input: '{"name":"open","arguments":{"é":"\'; drop table approvals; --"}}', key: `key ${id}` },
  ...{ policyVersion: "1", reason: "irreversible_mutable", capability: "{}", evidence: "external_proof", nonce: "n" },
  ...{ createdAt: NOW, expiresAt: NOW + 300_000, state: "waiting", decidedBy: "", given: "none" },
  ...more,
});
const open = (one: Approval): ApprovalChange => ({ table: "approval", type: "open", approval: one });
const move = (
  id: string,
  from: ApprovalState,
  to: ApprovalState,
  more: { now?: number; policyVersion?: string } = {},
): ApprovalChange => ({
  table: "approval",
  type: "move",
  id,
  from,
  to,
  now: NOW,
  by: "ops",
  given: "operator",
  ...more,
});

/** `reopen`: as another process would find it; undefined where nothing is kept. */
function suite(get: () => Kept, reopen?: () => Promise<void>): void {
  test("are found by id and by key, with every fact", async () => {
    expect(await get().write([open(approval("a"))])).toBe(true);
    await reopen?.();
    expect(await get().rows.get("a")).toEqual(approval("a"));
    expect(await get().rows.find("key a")).toEqual(approval("a"));
    expect(await get().rows.get("b")).toBeUndefined();
    expect(await get().rows.find("a")).toBeUndefined();
  });

  test("of one key, one is open at a time", async () => {
    const same = { key: "k" };
    const both = await Promise.all(["a", "b"].map((id) => get().write([open(approval(id, same))])));
    expect(both.filter(Boolean)).toHaveLength(1);
    const [first] = await get().rows.list({ limit: 10 });
    await get().write([move(first?.id ?? "", "waiting", "approved")]);
    expect(await get().write([open(approval("c", same))])).toBe(false);
    await get().write([move(first?.id ?? "", "approved", "consumed")]);
    expect(await get().write([open(approval("c", same))])).toBe(true);
    expect(await get().rows.find("k")).toMatchObject({ id: "c" });
  });

  test("move only from the state they are in, and only once", async () => {
    await get().write([open(approval("a"))]);
    expect(await get().write([move("a", "approved", "consumed")])).toBe(false);
    const both = await Promise.all([
      get().write([move("a", "waiting", "approved")]),
      get().write([move("a", "waiting", "denied")]),
    ]);
    expect(both.filter(Boolean)).toHaveLength(1);
    expect(await get().rows.get("a")).toMatchObject({ decidedBy: "ops", given: "operator" });
  });

  test("are consumed once, however many try", async () => {
    await get().write([open(approval("a", { state: "approved" }))]);
    const all = await Promise.all([1, 2, 3, 4].map(() => get().write([move("a", "approved", "consumed")])));
    expect(all.filter(Boolean)).toHaveLength(1);
    await reopen?.();
    expect(await get().rows.get("a")).toMatchObject({ state: "consumed" });
  });

  test("do not move when their time is over, but to expired; and not to that before", async () => {
    await get().write([open(approval("a"))]);
    const later = { now: NOW + 300_000 };
    expect(await get().write([move("a", "waiting", "approved", later)])).toBe(false);
    expect(await get().write([move("a", "waiting", "expired")])).toBe(false);
    expect(await get().write([move("a", "waiting", "expired", later)])).toBe(true);
  });

  test("do not move under another policy, where one is named", async () => {
    await get().write([open(approval("a", { state: "approved" }))]);
    expect(await get().write([move("a", "approved", "consumed", { policyVersion: "2" })])).toBe(false);
    expect(await get().write([move("a", "approved", "consumed", { policyVersion: "1" })])).toBe(true);
  });

  test("are listed newest first, of one tenant and one state", async () => {
    await get().write([open(approval("a")), open(approval("b", { tenant: "other" })), open(approval("c"))]);
    await get().write([move("c", "waiting", "denied")]);
    const ids = async (filter: object) => (await get().rows.list({ limit: 10, ...filter })).map(({ id }) => id);
    expect(await ids({})).toEqual(["c", "b", "a"]);
    expect(await ids({ limit: 1 })).toEqual(["c"]);
    expect(await ids({ tenant: "t" })).toEqual(["c", "a"]);
    expect(await ids({ tenant: "t", state: "waiting" })).toEqual(["a"]);
    expect(await get().rows.count("agent")).toBe(2);
  });

  test("that are overdue are told; what ended long ago is forgotten", async () => {
    await get().write([open(approval("a")), open(approval("b", { expiresAt: NOW + 1 }))]);
    const overdue = await get().rows.overdue(NOW + 1, 10);
    expect(overdue.map(({ id }) => id)).toEqual(["b"]);
    await get().write([move("b", "waiting", "expired", { now: NOW + 1 })]);
    await get().rows.forget(NOW + 1_000_000, 10);
    expect((await get().rows.list({ limit: 10 })).map(({ id }) => id)).toEqual(["a"]);
  });

  test("that ended are kept up to a number, those that are open all", async () => {
    await get().write(["a", "b", "c", "d"].map((id) => open(approval(id))));
    for (const id of ["d", "b", "c"]) await get().write([move(id, "waiting", "withdrawn")]);
    await get().rows.forget(NOW, 3);
    expect(await get().rows.list({ limit: 10 })).toHaveLength(4);
    await get().rows.forget(NOW, 2);
    expect((await get().rows.list({ limit: 10 })).map(({ id }) => id)).toEqual(["d", "c", "a"]);
    await get().rows.forget(NOW, 0);
    expect((await get().rows.list({ limit: 10 })).map(({ id }) => id)).toEqual(["a"]);
  });

  test.each(["denied", "consumed", "withdrawn", "expired"] as const)("keep no input once they are %s", async (end) => {
    await get().write([open(approval("a"))]);
    await get().write([move("a", "waiting", "approved")]);
    expect(await get().rows.get("a")).toMatchObject({ input: approval("a").input });
    expect(await get().write([move("a", "approved", end, { now: end === "expired" ? NOW + 300_000 : NOW })])).toBe(
      true,
    );
    const expected = { state: end, decidedBy: "ops", given: "operator", input: "{}" } as const;
    expect(await get().rows.get("a")).toEqual(approval("a", expected));
  });

  test("are told by their states alone, those that there are", async () => {
    await get().write([open(approval("a")), open(approval("b"))]);
    await get().write([move("b", "waiting", "approved")]);
    expect(await get().rows.states(["b", "gone", "a"])).toEqual(
      new Map([
        ["a", "waiting"],
        ["b", "approved"],
      ]),
    );
    expect(await get().rows.states([])).toEqual(new Map());
  });

  test("belong to a gateway that stays the same", async () => {
    const id = await get().rows.gateway();
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
    await reopen?.();
    expect(await get().rows.gateway()).toBe(id);
  });
}

describe("approvals in memory", () => {
  let rows: MemoryApprovals;
  beforeEach(() => {
    rows = new MemoryApprovals();
  });
  suite(() => ({ rows, write: (changes) => rows.write(changes) }));
});

describe.each([
  ["SQLite", sqliteEngine],
  ["PostgreSQL", postgresEngine],
])("approvals on %s", (_name, makeEngine: () => Promise<Engine>) => {
  let engine: Engine;
  let place: string;
  let store: OpenStore;

  beforeAll(async () => {
    engine = await makeEngine();
  });
  afterAll(() => engine.stop());
  beforeEach(async () => {
    place = await engine.place();
    store = await engine.open(place, () => NOW);
  });
  afterEach(() => store.close());

  suite(
    () => ({ rows: store.records.approvals, write: (changes) => store.records.write(changes) }),
    async () => {
      await store.close();
      store = await engine.open(place, () => NOW);
    },
  );
});
