import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type {
  Approval,
  ApprovalChange,
  ApprovalFilter,
  ApprovalPage,
  ApprovalRows,
  ApprovalState,
  AskedBy,
  Change,
  Principal,
} from "../../../src/contract/index.ts";
import { MemoryApprovals } from "../../../src/stores/memory/index.ts";
import { type Engine, NOW, type OpenStore, postgresEngine, sqliteEngine } from "./rig.ts";

type Kept = { readonly rows: ApprovalRows; write(changes: readonly Change[]): Promise<boolean> };

const approval = (id: string, more: Partial<Approval> = {}): Approval => ({
  ...{ id, tenant: "t", principal: "agent", user: "u", client: "c", server: "plant", name: "open", tool: "plant.open" },
  calledAs: "close",
  ...{ digest: "d", input: '{"name":"open","arguments":{"é":"\'; drop table approvals; --"}}', key: `key ${id}` },
  ...{
    definition: "tool all d",
    policyVersion: "1",
    reason: "irreversible_mutable",
    capability: "{}",
    evidence: "external_proof",
    nonce: "n",
  },
  ...{ createdAt: NOW, expiresAt: NOW + 300_000, state: "waiting", decidedBy: "", given: "none", decider: undefined },
  ...more,
});
const open = (approval: Approval, openKey?: string): ApprovalChange => ({
  table: "approval",
  type: "open",
  approval,
  ...(openKey !== undefined && { openKey }),
});
const move = (
  id: string,
  from: ApprovalState,
  to: ApprovalState,
  more: { now?: number; policyVersion?: string; until?: number; given?: Approval["given"]; decider?: Principal } = {},
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

/** Somebody else, with nothing in common with whoever asks above. */
const other: AskedBy = { tenant: "t", principal: "p", user: "v", client: "d", makers: [] };
const same: AskedBy = { tenant: "t", principal: "agent", user: "u", client: "c", makers: [] };

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

  test.each<[string, Partial<Approval>, Partial<AskedBy>, boolean]>([
    ["whoever has nothing in common", {}, {}, false],
    ["the same principal", {}, { principal: "agent" }, true],
    ["the same user", {}, { user: "u" }, true],
    ["nobody by having no user", { user: "" }, { user: "" }, false],
    ["not the same client of another user", {}, { client: "c" }, false],
    ["the same client where it asks for no user", {}, { client: "c", user: "" }, true],
    ["the same client where it asked for no user", { user: "" }, { client: "c" }, true],
    ["nobody by having no client", { user: "", client: "" }, { client: "" }, false],
    ["what the user has made", {}, { makers: ["user:t/x", "user:t/u"] }, true],
    ["what a principal without a user has made", { user: "" }, { makers: ["agent"] }, true],
    ["what the principal has made, whatever its user", {}, { makers: ["agent"] }, true],
    ["not what a user of that name in another tenant has made", {}, { makers: ["user:s/u"] }, false],
    ["not what somebody has made who has no name", { user: "" }, { makers: ["user:t/"] }, false],
  ])("are found of whoever asks by all its names: %s", async (_whom, asked, by, isFound) => {
    const found = isFound ? ["a"] : [];
    await get().write([open(approval("a", { ...asked, key: "k" }))]);
    expect(await get().rows.waiting("k", { ...other, ...by })).toEqual(found);
    expect(await get().rows.waiting("j", { ...other, ...by })).toEqual([]);
    await get().write([move("a", "waiting", "denied")]);
    expect(await get().rows.waiting("k", { ...other, ...by })).toEqual([]);
    const denied = await get().rows.denied("k", { ...other, ...by }, NOW);
    expect(denied ? [denied.id] : []).toEqual(found);
  });

  test("of one key, several are open under keys of their own, and a no to one of them is found for all", async () => {
    const alike = { key: "k" };
    expect(await get().write([open(approval("a", alike), "k for ann")])).toBe(true);
    expect(await get().write([open(approval("b", alike), "k for bob")])).toBe(true);
    expect(await get().write([open(approval("c", alike), "k for bob")])).toBe(false);
    expect(await get().rows.waiting("k", same)).toEqual(["a", "b"]);
    await reopen?.();
    expect(await get().rows.find("k for ann")).toMatchObject({ id: "a", key: "k" });
    expect(await get().rows.find("k")).toBeUndefined();
    await get().write([move("b", "waiting", "denied")]);
    expect(await get().rows.denied("k", same, NOW)).toMatchObject({ id: "b" });
    expect(await get().write([open(approval("d", alike), "k for bob")])).toBe(true);
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

  test("know whose word a yes is, for as long as it is open", async () => {
    const names = [{ id: "m", user: "u'", client: "", groups: ["g"], scopes: [], tokenHash: "t" }];
    const more = {
      groups: [],
      scopes: [],
      role: undefined,
      proof: "token",
      tokenHash: "h",
      makerNames: names,
    } as const;
    const decider: Principal = { id: "ops", identity: { tenant: "t", user: "é", client: "c", ...more } };
    await get().write([open(approval("a")), open(approval("b"))]);
    await get().write([move("a", "waiting", "approved", { decider }), move("b", "waiting", "approved")]);
    await reopen?.();
    expect((await get().rows.get("a"))?.decider).toEqual(decider);
    expect((await get().rows.get("b"))?.decider).toBeUndefined();
    await get().write([move("a", "approved", "consumed")]);
    expect((await get().rows.get("a"))?.decider).toBeUndefined();
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
    const count = (filter: ApprovalFilter) => get().rows.count(filter);
    expect(await count({})).toBe(3);
    expect(await count({ principal: "agent", state: "open" })).toBe(2);
    expect(await count({ user: "u", state: "open", tenant: "t" })).toBe(1);
    expect(await count({ user: "v" })).toBe(0);
    expect(await count({ tenant: "t", state: "denied" })).toBe(1);
    expect(await count({ tenant: "x", state: "open" })).toBe(0);
  });

  test("are listed so that their callers take turns, whatever many tokens a user has", async () => {
    const asked: readonly [string, Partial<Approval>][] = [
      ["bob", { user: "bob", principal: "p1" }],
      ["program", { user: "", principal: "p2" }],
      ["elsewhere", { user: "eve", principal: "p3", tenant: "other" }],
      ["eve1", { user: "eve", principal: "p4" }],
      ["eve2", { user: "eve", principal: "p5" }],
      ["named like a program", { user: "p2", principal: "p6" }],
      ["eve3", { user: "eve", principal: "p4" }],
    ];
    for (const [id, more] of asked) await get().write([open(approval(id, more))]);
    const ids = async (page: Partial<ApprovalPage>) =>
      (await get().rows.list({ limit: 10, inTurns: true, ...page })).map(({ id }) => id);
    expect(await ids({})).toEqual(["eve3", "named like a program", "elsewhere", "program", "bob", "eve2", "eve1"]);
    expect(await ids({ tenant: "t", state: "waiting", limit: 5 })).toEqual([
      "eve3",
      "named like a program",
      "program",
      "bob",
      "eve2",
    ]);
    expect(await ids({ user: "eve", tenant: "t" })).toEqual(["eve3", "eve2", "eve1"]);
    expect(await ids({ principal: "p2" })).toEqual(["program"]);
  });

  test("are found by how their ids begin, however many others there are", async () => {
    const all = ["fe8", "fe87", "fe87-a", "fe87-b", "fe88", "ff", "FE87"];
    await get().write(all.map((id) => open(approval(id))));
    await get().write([move("fe87-b", "waiting", "denied")]);
    const ids = async (page: Partial<ApprovalPage>) =>
      (await get().rows.list({ limit: 10, ...page })).map(({ id }) => id).toSorted();
    expect(await ids({ idStart: "fe87" })).toEqual(["fe87", "fe87-a", "fe87-b"]);
    expect(await ids({ idStart: "fe87", state: "waiting" })).toEqual(["fe87", "fe87-a"]);
    expect(await ids({ idStart: "fe87", limit: 1 })).toHaveLength(1);
    expect(await ids({ idStart: "fe87", tenant: "other" })).toEqual([]);
    expect(await ids({ idStart: "a%" })).toEqual([]);
    expect(await ids({ idStart: "" })).toHaveLength(7);
    expect(await get().rows.count({ idStart: "fe8" })).toBe(5);
  });

  test("are listed with how their params begin and how long they are, counted in characters", async () => {
    const inputs = ['{"a":1}', `"${"é".repeat(4_094)}"`, `"${"é".repeat(4_095)}"`, `"${"😀".repeat(5_000)}"`];
    await get().write(inputs.map((input, place) => open(approval(`a${place}`, { input }))));
    const found = (await get().rows.list({ limit: 10 })).toReversed();
    expect(found.map(({ beginning, characters }) => [beginning, characters])).toEqual([
      [inputs[0], 7],
      [inputs[1], 4_096],
      [`"${"é".repeat(4_095)}`, 4_097],
      [`"${"😀".repeat(4_095)}`, 5_002],
    ]);
    const { input: _whole, ...facts } = approval("a0");
    expect(found[0]).toEqual({ ...facts, beginning: inputs[0], characters: 7 });
  });

  test("that were denied are found by key for as long as that holds", async () => {
    await get().write([open(approval("a", { key: "k" }))]);
    expect(await get().rows.denied("k", same, NOW)).toBeUndefined();
    await get().write([move("a", "waiting", "denied", { until: NOW + 10 })]);
    await reopen?.();
    expect(await get().rows.denied("k", same, NOW + 9)).toMatchObject({
      id: "a",
      decidedBy: "ops",
      expiresAt: NOW + 10,
    });
    expect(await get().rows.denied("k", same, NOW + 10)).toBeUndefined();
    expect(await get().rows.denied("other", same, NOW)).toBeUndefined();
    await get().write([open(approval("b", { key: "k" }))]);
    await get().write([move("b", "waiting", "denied", { until: NOW + 10 })]);
    expect(await get().rows.denied("k", same, NOW)).toMatchObject({ id: "b" });
  });

  test("that operators denied are not forgotten for how many have ended, those that their own users denied are", async () => {
    await get().write(["a", "b", "c"].map((id) => open(approval(id))));
    await get().write([move("a", "waiting", "denied")]);
    await get().write([move("b", "waiting", "denied", { given: "session_user" })]);
    await get().write([move("c", "waiting", "withdrawn")]);
    await get().rows.forget(NOW, 0);
    expect((await get().rows.list({ limit: 10 })).map(({ id }) => id)).toEqual(["a"]);
    await get().rows.forget(NOW + 1_000_000, 0);
    expect(await get().rows.list({ limit: 10 })).toEqual([]);
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
