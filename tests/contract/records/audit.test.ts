import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { AuditBlock, AuditChange, AuditHead, Records } from "../../../src/contract/index.ts";
import { type Entry, entryOf, headOf, makeBlock } from "../../../src/mechanisms/audit/block.ts";
import { makeCheckpoint } from "../../../src/mechanisms/audit/checkpoints.ts";
import { eventLine } from "../../../src/mechanisms/audit/event-line.ts";
import { type EventFilter, findEvents } from "../../../src/mechanisms/audit/find-events.ts";
import { passingSigner } from "../../../src/mechanisms/audit/signing.ts";
import { verifyRows } from "../../../src/mechanisms/audit/verify-trail.ts";
import { delivery, type Engine, NOW, type OpenStore, postgresEngine, sqliteEngine } from "./rig.ts";

const signer = passingSigner();

type Fact = { name: string; at: number; actor?: string; type?: "TOOL_EXECUTED" | "TOOL_BLOCKED"; tenant?: string };

const traceOf = (name: string) => `0d6f8f0e-6f0b-4b57-9b2c-${name.padStart(12, "0")}`;

function entry({ name, at, actor = "ann", type = "TOOL_EXECUTED", tenant = "default" }: Fact): Entry {
  const line = eventLine(
    {
      ...{ type, tenant, actor: { type: "agent", id: actor }, target: { server: "files", name } },
      result: type === "TOOL_BLOCKED" ? "BLOCKED" : "SUCCESS",
      details: { note: "ünï ☃ \0" },
    },
    { at, id: name, traceId: traceOf(name) },
  );
  return entryOf(line);
}

const empty = (writer: string): AuditHead => ({ writer, number: -1, hash: "", spooled: 0 });

function blockOf(head: AuditHead, facts: readonly Fact[]): AuditChange & { block: AuditBlock } {
  const { block, terms } = makeBlock(head, facts.map(entry), { signer, fromSpool: true });
  return { table: "audit", type: "block", block, terms };
}

describe.each([
  ["SQLite", sqliteEngine],
  ["PostgreSQL", postgresEngine],
])("the audit trail on %s", (_name, makeEngine: () => Promise<Engine>) => {
  let engine: Engine;
  let store: OpenStore;
  let records: Records;

  beforeAll(async () => {
    engine = await makeEngine();
  });
  afterAll(() => engine.stop());
  beforeEach(async () => {
    store = await engine.open(await engine.place(), () => NOW);
    records = store.records;
  });
  afterEach(() => store.close());

  /** Each list is a block. */
  async function write(writer: string, ...blocks: readonly (readonly Fact[])[]): Promise<AuditBlock[]> {
    let head = (await records.audit.head(writer)) ?? empty(writer);
    const written: AuditBlock[] = [];
    for (const facts of blocks) {
      const change = blockOf(head, facts);
      expect(await records.write([change])).toBe(true);
      head = headOf(change.block);
      written.push(change.block);
    }
    return written;
  }

  test("gives blocks back as they were written, with the head of each chain", async () => {
    const [first, second] = await write("w1", [{ name: "a", at: NOW }], [{ name: "b", at: NOW + 1 }]);
    await write("w2", [{ name: "c", at: NOW }]);
    expect(await records.audit.chain("w1", 0, 10)).toEqual([first, second]);
    expect(await records.audit.chain("w1", 1, 10)).toEqual([second]);
    expect(await records.audit.chain("w1", 0, 1)).toEqual([first]);
    expect(await records.audit.head("w1")).toEqual(headOf(second as AuditBlock));
    expect(await records.audit.head("none")).toBeUndefined();
    expect((await records.audit.heads("", 10)).map(({ writer }) => writer)).toEqual(["w1", "w2"]);
    expect((await records.audit.heads("w1", 10)).map(({ writer }) => writer)).toEqual(["w2"]);
    expect(await records.audit.writers("", 1)).toEqual(["w1"]);
    expect(await records.audit.writers("w1", 10)).toEqual(["w2"]);
  });

  test("takes a block only where the chain ends as the block says", async () => {
    const [first] = await write("w1", [{ name: "a", at: NOW }]);
    const again = blockOf(empty("w1"), [{ name: "b", at: NOW }]);
    const far = blockOf({ ...headOf(first as AuditBlock), number: 4 }, [{ name: "b", at: NOW }]);
    const strange = blockOf({ ...headOf(first as AuditBlock), hash: "another" }, [{ name: "b", at: NOW }]);
    for (const change of [again, far, strange]) expect(await records.write([change])).toBe(false);
    expect(await records.audit.chain("w1", 0, 10)).toHaveLength(1);
  });

  test("keeps a decision and what it changes together, or neither", async () => {
    const put = {
      table: "policy",
      type: "put",
      entry: { tenant: "t", kind: "grant", key: "k", value: "{}", updatedAt: NOW, updatedBy: "ops" },
      ifVersion: 7,
    } as const;
    expect(await records.write([put, blockOf(empty("w1"), [{ name: "a", at: NOW }])])).toBe(false);
    expect(await records.audit.chain("w1", 0, 1)).toEqual([]);
    const right = { ...put, ifVersion: 0 };
    expect(await records.write([right, blockOf(empty("w1"), [{ name: "a", at: NOW }])])).toBe(true);
    expect(await records.policy.version()).toBe(1);
    expect(await records.audit.chain("w1", 0, 1)).toHaveLength(1);
  });

  test("keeps a message to somebody outside together with its block", async () => {
    const added = { table: "deliveries", type: "add", delivery: delivery("d1") } as const;
    expect(await records.write([blockOf(empty("w1"), [{ name: "a", at: NOW }]), added])).toBe(true);
    expect(await records.deliveries.take(NOW, 10, 1_000)).toMatchObject([{ id: "d1", body: "b" }]);
    const missed = blockOf(empty("w1"), [{ name: "b", at: NOW }]);
    expect(await records.write([{ ...added, delivery: delivery("d2") }, missed])).toBe(false);
    expect(await records.deliveries.count()).toBe(1);
  });

  test("has one checkpoint of each number, and knows which heads no checkpoint has seen", async () => {
    await write("w1", [{ name: "a", at: NOW }]);
    await write("w2", [{ name: "b", at: NOW }]);
    const heads = await records.audit.uncovered(10);
    expect(heads).toHaveLength(2);
    const first = makeCheckpoint({ last: undefined, heads, at: NOW, signer });
    const change = { table: "audit", type: "checkpoint", checkpoint: first, heads } as const;
    await write("w2", [{ name: "c", at: NOW }]);
    expect(await records.write([change])).toBe(true);
    expect(await records.write([change])).toBe(false);
    expect((await records.audit.uncovered(10)).map(({ writer }) => writer)).toEqual(["w2"]);
    expect(await records.audit.lastCheckpoint()).toEqual(first);
    expect(await records.audit.checkpoints(1, 10)).toEqual([first]);
    expect(await records.audit.checkpoints(2, 10)).toEqual([]);
    expect(await verifyRows(records.audit, { keys: [signer.publicKey] })).toMatchObject({
      isIntact: true,
      uncovered: 1,
    });
  });

  describe("removes what is old", () => {
    const remove = async (edges: readonly AuditBlock[], sequence: number) => {
      const last = await records.audit.lastCheckpoint();
      const old = { edges: edges.map(headOf), sequence, until: NOW, isFull: false };
      const heads = await records.audit.uncovered(10);
      const checkpoint = makeCheckpoint({ last, heads, old, at: NOW, signer });
      const said = { table: "audit", type: "checkpoint", checkpoint, heads } as const;
      return { said, change: { table: "audit", type: "remove", edges: old.edges, sequence } as const };
    };
    const verified = () => verifyRows(records.audit, { keys: [signer.publicKey] });

    test("together with the checkpoint that says so, or not at all", async () => {
      const [a0, a1, a2] = await write("w1", ...["a", "b", "c"].map((name) => [{ name, at: NOW }]));
      const [b0] = await write("w2", [{ name: "d", at: NOW }]);
      expect(await records.audit.oldest(3)).toMatchObject([
        { writer: "w1", number: 0, hash: a0?.hash, count: 1, until: NOW, sequence: 1 },
        { number: 1 },
        { number: 2 },
      ]);
      const { said, change } = await remove([a1 as AuditBlock, b0 as AuditBlock], 2);
      expect(await records.write([said, change])).toBe(true);
      expect(await records.audit.chain("w1", 0, 10)).toEqual([a2]);
      expect(await records.audit.writers("", 10)).toEqual(["w1"]);
      expect(await records.audit.oldest(10)).toMatchObject([{ writer: "w1", number: 2, sequence: 3 }]);
      expect(await verified()).toMatchObject({ isIntact: true, removed: { blocks: 3 } });
      const again = await remove([a2 as AuditBlock], 3);
      expect(await records.write([said, again.change])).toBe(false);
      expect(await records.audit.chain("w1", 0, 10)).toEqual([a2]);
    });

    test("and goes on with a chain of which nothing is left", async () => {
      const [only] = await write("w1", [{ name: "a", at: NOW }]);
      const { said, change } = await remove([only as AuditBlock], 1);
      expect(await records.write([said, change])).toBe(true);
      const [next] = await write("w1", [{ name: "b", at: NOW }]);
      expect(next).toMatchObject({ number: 1, previous: only?.hash });
      expect(await verified()).toMatchObject({ isIntact: true, blocks: 1 });
    });

    test("with the parts of the index that hold nothing else, and finds the rest", async () => {
      const blocks = await write("w1", ...["a", "b", "c", "d"].map((name) => [{ name, at: NOW }]));
      for (const number of [1, 2]) {
        const run = { number, last: number * 2, at: NOW, until: NOW };
        await records.write([{ table: "audit", type: "run", run, after: number * 2 - 2 }]);
      }
      const { said, change } = await remove([blocks[2] as AuditBlock], 3);
      expect(await records.write([said, change])).toBe(true);
      const find = async (filter: EventFilter) =>
        (await findEvents(records.audit, filter, { limit: 9 })).events.map(({ target }) => target.tool_name);
      expect(await find({ actor: "ann" })).toEqual(["d"]);
      expect(await find({})).toEqual(["d"]);
      expect(await find({ traceId: traceOf("a") })).toEqual([]);
      // The number is free again: its run is gone, with its terms. The last run stays, however old.
      const run = { number: 1, last: 2, at: NOW, until: NOW };
      expect(await records.write([{ table: "audit", type: "run", run, after: 0 }])).toBe(true);
      expect(await records.audit.lastRun()).toMatchObject({ number: 2, last: 4 });
      const rest = await remove([blocks[3] as AuditBlock], 4);
      expect(await records.write([rest.said, rest.change])).toBe(true);
      expect(await records.audit.lastRun()).toMatchObject({ number: 2, last: 4 });
      await write("w1", [{ name: "e", at: NOW }]);
      expect(await records.audit.unindexed(4, 9)).toMatchObject([{ sequence: 5 }]);
      expect(await find({ actor: "ann" })).toEqual(["e"]);
    });
  });

  describe("finds events", () => {
    const find = async (filter: EventFilter, limit = 100) => {
      const names: string[] = [];
      let [cursor, pages]: [string | undefined, number] = [undefined, 0];
      do {
        const page = await findEvents(records.audit, filter, { limit, ...(cursor !== undefined && { cursor }) });
        names.push(...page.events.map(({ target }) => target.tool_name));
        cursor = page.next;
        expect(++pages).toBeLessThan(50);
      } while (cursor !== undefined);
      return names.join("");
    };

    beforeEach(async () => {
      await write("w1", [
        { name: "a", at: NOW },
        { name: "b", at: NOW + 10, actor: "ben" },
      ]);
      await write("w2", [{ name: "c", at: NOW + 20 }]);
      await write("w1", [{ name: "d", at: NOW + 30, type: "TOOL_BLOCKED", actor: "ben" }]);
      await write("w2", [{ name: "e", at: NOW + 40, type: "TOOL_BLOCKED" }]);
      await write("w1", [{ name: "f", at: NOW + 60_000, tenant: "other" }]);
    });

    /** Puts blocks into the index, up to each of these. */
    const index = async (...lasts: readonly number[]) => {
      let after = 0;
      for (const [at, last] of lasts.entries()) {
        const run = { number: at + 1, last, at: NOW, until: NOW + 60_000 };
        expect(await records.write([{ table: "audit", type: "run", run, after }])).toBe(true);
        expect(await records.write([{ table: "audit", type: "run", run, after }])).toBe(false);
        after = last;
      }
      expect(await records.audit.lastRun()).toMatchObject({ last: after });
    };

    test.each<[string, EventFilter, string]>([
      ["all of them, newest first", {}, "fedcba"],
      ["of a trace", { traceId: traceOf("b") }, "b"],
      ["of a trace that nobody has", { traceId: traceOf("z") }, ""],
      ["of a type", { type: "TOOL_BLOCKED" }, "ed"],
      ["of an actor", { actor: "ben" }, "db"],
      ["of a type and an actor", { type: "TOOL_BLOCKED", actor: "ben" }, "d"],
      ["of a server", { server: "files" }, "fedcba"],
      ["of a server that nobody has", { server: "none" }, ""],
      ["of a tool", { server: "files", name: "c" }, "c"],
      ["of a tenant", { tenant: "other" }, "f"],
      ["of a tenant and an actor", { tenant: "other", actor: "ben" }, ""],
      ["with a result", { result: "BLOCKED" }, "ed"],
      ["from a time on", { from: NOW + 30 }, "fed"],
      ["up to a time", { to: NOW + 10 }, "ba"],
      ["of a time in the middle of a block", { from: NOW + 5, to: NOW + 20 }, "cb"],
      ["of a type within a time", { type: "TOOL_BLOCKED", from: NOW, to: NOW + 35 }, "d"],
    ])("%s, however long the pages are, and how much of it is in the index", async (_what, filter, names) => {
      expect(await find(filter)).toBe(names);
      expect(await find(filter, 1)).toBe(names);
      expect(await find(filter, 2)).toBe(names);
      await index(2, 4);
      expect(await find(filter)).toBe(names);
      expect(await find(filter, 1)).toBe(names);
      expect(await records.audit.unindexed(4, 10)).toMatchObject([{ sequence: 5, count: 1 }]);
    });

    test.each(["", "x", "1.2", "1.2.zzzz", "'; drop table audit_blocks; --"])(
      "and refuses the cursor %j",
      async (cursor) => {
        await expect(findEvents(records.audit, {}, { limit: 1, cursor })).rejects.toMatchObject({ code: "BAD_CALL" });
      },
    );

    test("and takes words of others for what they are", async () => {
      expect(await find({ actor: "' or 1=1 --" })).toBe("");
      expect(await find({ tenant: "\0" })).toBe("");
    });
  });
});
