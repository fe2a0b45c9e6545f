import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { KeptLog, KeptMeter } from "../../../tests/kit/quiet.ts";
import type { AuditEvent } from "../../contract/index.ts";
import { CHECKPOINT_MS } from "./checkpoints.ts";
import { KeptTrail } from "./fixtures/kept-trail.ts";
import { findOld } from "./retention.ts";
import { passingSigner } from "./signing.ts";
import { Trail } from "./trail.ts";
import { verifyRows } from "./verify-trail.ts";

const AT = 1_800_000_000_000;
const DAY = 86_400_000;
const signer = passingSigner();
const keys = [signer.publicKey];

let kept: KeptTrail;
let time: ManualTime;
let open: Trail[];

beforeEach(() => {
  [kept, time, open] = [new KeptTrail(), new ManualTime(), []];
});

afterEach(async () => {
  await Promise.all(open.map((trail) => trail.close()));
  expect(time.pending).toBe(0);
});

function create(keepMs?: number): Trail {
  const ports = { timers: time, log: new KeptLog(), meter: new KeptMeter(), now: () => AT + time.now() };
  const trail = new Trail({ records: kept.records, signer, maxBytes: 100_000_000, sinks: [], keepMs, ...ports });
  open.push(trail);
  return trail;
}

function event(name: string): AuditEvent {
  const actor = { type: "agent", id: "ann" } as const;
  const target = { server: "files", name };
  return { type: "TOOL_EXECUTED", tenant: "default", actor, target, result: "SUCCESS", details: {} };
}

const names = () => kept.lines.map((line) => JSON.parse(line).target.tool_name as string);
const keptAll = (...wanted: string[]) => vi.waitFor(() => expect(names()).toEqual(wanted));
const removals = () =>
  kept.checkpoints.map(({ text }) => JSON.parse(text).removed).filter((said) => said !== undefined);

describe("what is older than it is kept", () => {
  test("is removed with a checkpoint that says so, and nothing younger", async () => {
    const trail = create(DAY);
    await trail.open();
    const until = new Date(AT + time.now()).toISOString();
    trail.note(event("a"));
    await keptAll("a");
    time.advance(CHECKPOINT_MS);
    await vi.waitFor(() => expect(kept.checkpoints).toHaveLength(1));
    await keptAll("a");
    time.advance(DAY);
    await keptAll();
    trail.note(event("b"));
    await keptAll("b");
    time.advance(CHECKPOINT_MS);
    await vi.waitFor(() => expect(kept.checkpoints).toHaveLength(3));
    const report = await verifyRows(kept.rows, { keys });
    expect(report).toMatchObject({ isIntact: true, blocks: 1, uncovered: 0, removed: { blocks: 1, until } });
  });

  test("goes also where nothing new happens, a bounded part at a time, until nothing is left", async () => {
    const old = create();
    for (let index = 0; index < 600; index++) await old.commit(event(`d${index}`), []);
    await old.close();
    time.advance(DAY + 1);
    await create(DAY).open();
    time.advance(CHECKPOINT_MS);
    await vi.waitFor(() => expect(kept.blocks).toEqual([]));
    expect(removals().map(({ chains }) => chains[0].block)).toEqual([255, 511, 599]);
    expect(await verifyRows(kept.rows, { keys })).toMatchObject({ isIntact: true, removed: { blocks: 600 } });
  });

  test("is removed by one of several processes", async () => {
    const [one, other] = [create(DAY), create(DAY)];
    one.note(event("a"));
    await keptAll("a");
    await Promise.all([one.open(), other.open()]);
    time.advance(DAY + CHECKPOINT_MS);
    await keptAll();
    await new Promise((resolve) => setImmediate(resolve));
    expect(removals()).toHaveLength(1);
  });

  test("stays for good where nobody says how long", async () => {
    const trail = create();
    trail.note(event("a"));
    await keptAll("a");
    time.advance(10_000 * DAY);
    await vi.waitFor(() => expect(kept.checkpoints).toHaveLength(1));
    expect(names()).toEqual(["a"]);
  });
});

describe("findOld", () => {
  const rows = (...blocks: readonly (readonly [writer: string, number: number, until: number, count?: number])[]) => ({
    oldest: async (limit: number) =>
      blocks.slice(0, limit).map(([writer, number, until, count = 1], index) => {
        return { writer, number, hash: `${writer}${number}`, until, count, sequence: index + 10 };
      }),
  });

  test("takes the first blocks of all up to the first that is young, with the last of each chain", async () => {
    const found = await findOld(rows(["a", 3, 5], ["b", 0, 7], ["a", 4, 6], ["b", 1, 10], ["a", 5, 1]), 10);
    const edges = [
      { writer: "a", number: 4, hash: "a4" },
      { writer: "b", number: 0, hash: "b0" },
    ];
    expect(found).toEqual({ edges, sequence: 12, until: 7, isFull: false });
  });

  test("finds nothing where the first is young, or there is none", async () => {
    expect(await findOld(rows(["a", 0, 10]), 10)).toBeUndefined();
    expect(await findOld(rows(), 10)).toBeUndefined();
  });

  test("takes no more events at once than one transaction should remove, but always a block", async () => {
    const many = rows(["a", 0, 1, 5_000], ["a", 1, 1, 256], ["a", 2, 1, 256]);
    expect(await findOld(many, 10)).toMatchObject({ edges: [{ number: 0 }], isFull: true });
  });
});
