import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { KeptLog, KeptMeter } from "../../../tests/kit/quiet.ts";
import type { AuditEvent, Change } from "../../contract/index.ts";
import { CHECKPOINT_MS } from "./checkpoints.ts";
import type { KeptEvent } from "./event-line.ts";
import { KeptTrail } from "./fixtures/kept-trail.ts";
import { GAP, HOLE } from "./short-lines.ts";
import { passingSigner } from "./signing.ts";
import { Trail, type TrailOptions } from "./trail.ts";
import { verifyRows } from "./verify-trail.ts";

const AT = 1_800_000_000_000;
const signer = passingSigner();

let folder: string;
let kept: KeptTrail;
let time: ManualTime;
let log: KeptLog;
let meter: KeptMeter;
let open: Trail[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "isthmus-audit-"));
  [kept, time, log, meter, open] = [new KeptTrail(), new ManualTime(), new KeptLog(), new KeptMeter(), []];
});

afterEach(async () => {
  kept.isAway = false;
  await Promise.all(open.map((trail) => trail.close()));
  rmSync(folder, { recursive: true, force: true });
  expect(time.pending).toBe(0);
});

function create(options: Partial<TrailOptions> = {}): Trail {
  const ports = { timers: time, log, meter, now: () => AT + time.now() };
  const trail = new Trail({
    records: kept.records,
    signer,
    folder,
    maxBytes: 100_000,
    sinks: [],
    ...ports,
    ...options,
  });
  open.push(trail);
  return trail;
}

function event(name: string, change: Partial<AuditEvent> = {}): AuditEvent {
  return {
    type: "TOOL_EXECUTED",
    tenant: "default",
    actor: { type: "agent", id: "ann" },
    target: { server: "files", name },
    result: "SUCCESS",
    details: {},
    ...change,
  };
}

const names = () => kept.lines.map((line) => (JSON.parse(line) as KeptEvent).target.tool_name);
const keptAll = (...wanted: string[]) => vi.waitFor(() => expect(names()).toEqual(wanted));
const gaps = () =>
  kept.lines
    .map((line) => JSON.parse(line) as KeptEvent)
    .flatMap(({ event_type, details }) => (event_type === "dev.isthmus.audit.gap" ? [details.lost] : []));
const policy = (type: "put" | "remove"): Change => {
  const entry = { tenant: "t", kind: "grant", key: "k", value: "{}", updatedAt: 0, updatedBy: "ann" } as const;
  if (type === "put") return { table: "policy", type, entry };
  return { table: "policy", type, tenant: "t", kind: "grant", key: "none" };
};
const spooled = () =>
  readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n").slice(0, -1));

describe("what is noted", () => {
  test("is in the spool when note returns, for this user only, and in the chain soon after", async () => {
    const trail = create();
    trail.note(event("a"));
    expect(spooled()).toHaveLength(1);
    const [file = ""] = readdirSync(folder);
    expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
    await keptAll("a");
  });

  test("of many calls in one turn is in the spool with one write, before any of them is let go", async () => {
    const trail = create({ maxBytes: 10_000_000 });
    const seen: number[] = [];
    const lineOf = (name: string) => ({ line: JSON.stringify({ name }), at: AT, trace: 0, terms: [] });
    const all = Array.from({ length: 1_500 }, (_, index) =>
      trail.noteThen(lineOf(`n${index}`), { release: () => void seen.push(spooled().length) }),
    );
    expect(seen).toEqual(new Array(1_024).fill(1_024));
    await Promise.all(all);
    expect(seen.slice(1_024)).toEqual(new Array(476).fill(1_500));
    await vi.waitFor(() => expect(kept.lines).toHaveLength(1_500));
  });

  test("has the form that MGP gives it [MG-126] [MG-128] [MG-129] [MG-131] [MG-132]", async () => {
    create().note(event("a", { details: { risk_level: "safe" } }));
    await keptAll("a");
    const found = JSON.parse(kept.lines[0] as string) as KeptEvent;
    expect(Object.keys(found)).toEqual(["timestamp", "trace_id", "event_type", "actor", "target", "result", "details"]);
    expect(found).toMatchObject({
      timestamp: new Date(AT + time.now()).toISOString(),
      trace_id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      event_type: "TOOL_EXECUTED",
      actor: { type: "agent", id: "ann" },
      target: { server_id: "files", tool_name: "a" },
      result: "SUCCESS",
      details: { risk_level: "safe", tenant: "default" },
    });
  });

  test("becomes blocks of at most 256 events that follow each other", async () => {
    const trail = create({ maxBytes: 10_000_000 });
    const wanted = Array.from({ length: 600 }, (_, index) => `n${index}`);
    for (const name of wanted) trail.note(event(name));
    await keptAll(...wanted);
    expect(Math.max(...kept.blocks.map(({ count }) => count))).toBe(256);
    expect(await verifyRows(kept.rows, { keys: [signer.publicKey] })).toMatchObject({ isIntact: true, events: 600 });
  });

  test("goes to the sinks when it is kept, and not before", async () => {
    const taken: string[] = [];
    const sink = { take: (lines: string) => void taken.push(lines), close: async () => undefined };
    kept.isAway = true;
    const trail = create({ sinks: [sink] });
    trail.note(event("a"));
    await vi.waitFor(() => expect(log.lines).toMatchObject([{ message: "audit events wait for the store" }]));
    expect(taken).toEqual([]);
    kept.comeBack();
    await vi.waitFor(() => expect(taken).toEqual(kept.lines));
  });

  test("that is longer than a fact may be loses its details and says so", async () => {
    create().note(event("a", { details: { long: "x".repeat(70_000) } }));
    await keptAll("a");
    expect(JSON.parse(kept.lines[0] as string)).toMatchObject({ details: { cut: true, tenant: "default" } });
  });
});

describe("while the store is away", () => {
  test("events wait, and come into the chain once each when it is back", async () => {
    const trail = create();
    trail.note(event("a"));
    await keptAll("a");
    kept.isAway = true;
    trail.note(event("b"));
    trail.note(event("c"));
    await vi.waitFor(() => expect(log.lines).toMatchObject([{ message: "audit events wait for the store" }]));
    kept.comeBack();
    await keptAll("a", "b", "c");
  });

  test("an answer of the store that was lost makes no event twice", async () => {
    const trail = create();
    kept.losesAnswers = true;
    trail.note(event("a"));
    await vi.waitFor(() => expect(log.lines).toHaveLength(1));
    kept.losesAnswers = false;
    trail.note(event("b"));
    kept.comeBack();
    await keptAll("a", "b");
  });

  test("a full spool says so, drops what is new, and the trail tells how much is missing", async () => {
    kept.isAway = true;
    const trail = create({ maxBytes: 2_000 });
    expect(trail.isFull).toBe(false);
    for (let index = 0; index < 12; index++) trail.note(event(`n${index}`));
    expect(trail.isFull).toBe(true);
    const lost = meter.of("isthmus_audit_dropped_total spool");
    expect(lost).toBeGreaterThan(0);
    kept.comeBack();
    await vi.waitFor(() => expect(names()).toHaveLength(12 - lost + 1));
    expect(gaps()).toEqual([lost]);
    expect(JSON.parse(kept.lines.at(-1) as string)).toMatchObject({ event_type: "dev.isthmus.audit.gap" });
    expect(trail.isFull).toBe(false);
    trail.note(event("last"));
    await vi.waitFor(() => expect(names().at(-1)).toBe("last"));
    expect(gaps()).toEqual([lost]);
  });

  describe("what events have in common", () => {
    const bytesOnDisk = () => readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
    const entry = (at: number, common: string) => ({
      ...{ line: `"${at}"`, template: `{"a":${HOLE},"b":${GAP},"c":"${common}"}`, filler: '"x"' },
      ...{ at: AT, trace: 0, terms: [] },
    });
    /** How many fit. */
    function fill(trail: Trail, commonOf: (at: number) => string): number {
      for (let count = 0; count < 10_000; count++) {
        if (trail.isFull) return count;
        trail.noteEntry(entry(count, commonOf(count)));
      }
      return 10_000;
    }

    test("takes its room in the spool, each time that it is another one", async () => {
      kept.isAway = true;
      const trail = create();
      const many = fill(trail, (at) => `${at} ${"a".repeat(4_000)}`);
      expect(many).toBeGreaterThan(20);
      expect(bytesOnDisk()).toBeLessThanOrEqual(100_000);
      kept.comeBack();
      await vi.waitFor(() => expect(kept.lines).toHaveLength(many));
      kept.isAway = true;
      expect(fill(trail, (at) => `${at} ${"b".repeat(4_000)}`)).toBe(many);
    });

    test("takes it without a spool as well", () => {
      kept.isAway = true;
      const many = fill(create({ folder: undefined }), (at) => `${at} ${"a".repeat(4_000)}`);
      expect(many).toBeGreaterThan(20);
      expect(many * 4_000).toBeLessThanOrEqual(100_000);
    });

    test("takes it again in each file of the spool", () => {
      kept.isAway = true;
      const maxBytes = 3 * 1_048_576;
      // Some 240 fill a file, so that none is ever known in the next one.
      fill(create({ maxBytes }), (at) => `${at % 300} ${"a".repeat(4_400)}`);
      expect(bytesOnDisk()).toBeLessThanOrEqual(maxBytes);
    });

    test("takes it in bytes, not in characters", () => {
      kept.isAway = true;
      create().noteEntry(entry(0, "é".repeat(60_000)));
      expect(bytesOnDisk()).toBe(0);
      expect(meter.of("isthmus_audit_dropped_total spool")).toBe(1);
    });

    test("takes it once for all that are alike", () => {
      kept.isAway = true;
      expect(fill(create(), () => "a".repeat(4_000))).toBeGreaterThan(5_000);
      expect(bytesOnDisk()).toBeLessThanOrEqual(100_000);
    });

    test("is not counted for what the disk did not take", () => {
      kept.isAway = true;
      const trail = create();
      rmSync(folder, { recursive: true });
      for (let at = 0; at < 50; at++) trail.noteEntry(entry(at, `${at} ${"a".repeat(4_000)}`));
      expect(meter.of("isthmus_audit_dropped_total spool")).toBe(50);
      mkdirSync(folder);
      expect(trail.isFull).toBe(false);
    });
  });

  test("a disk that took nothing is tried again when somebody asks, and the trail tells how much is missing", async () => {
    const trail = create();
    rmSync(folder, { recursive: true });
    trail.note(event("a"));
    expect([trail.isFull, trail.isFull]).toEqual([true, true]);
    expect(meter.of("isthmus_audit_dropped_total spool")).toBe(1);
    mkdirSync(folder);
    expect(trail.isFull).toBe(false);
    await vi.waitFor(() => expect(gaps()).toEqual([1]));
  });
});

describe("what is decided", () => {
  test("is written together with what it changes, after what was noted before", async () => {
    const trail = create();
    trail.note(event("a"));
    expect(await trail.commit(event("b", { type: "ACCESS_GRANTED" }), [policy("put")])).toBe(true);
    expect(names()).toEqual(["a", "b"]);
    expect(kept.others).toEqual([policy("put")]);
  });

  test("is not on the trail where its change misses its row", async () => {
    const trail = create();
    expect(await trail.commit(event("a"), [policy("remove")])).toBe(false);
    expect(await trail.commit(event("b"), [policy("put")])).toBe(true);
    trail.note(event("c"));
    await keptAll("b", "c");
    expect(await verifyRows(kept.rows, { keys: [signer.publicKey] })).toMatchObject({ isIntact: true });
  });

  test("is refused while the store is away, and nothing of it comes later", async () => {
    const trail = create();
    kept.isAway = true;
    await expect(trail.commit(event("a"), [])).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
    kept.comeBack();
    trail.note(event("b"));
    await keptAll("b");
  });

  test("without a store goes where the caller says", async () => {
    const written: Change[] = [];
    const write = async (changes: readonly Change[]) => written.push(...changes) < 3;
    const trail = create({ records: undefined, write });
    expect(await trail.commit(event("a"), [policy("put")])).toBe(true);
    expect(await trail.commit(event("b"), [policy("put"), policy("put")])).toBe(false);
    const found = await trail.rows.search({ terms: [], from: 0, to: Number.MAX_SAFE_INTEGER, limit: 10 });
    expect(found.map(({ lines }) => (JSON.parse(lines) as KeptEvent).target.tool_name)).toEqual(["a"]);
  });
});

describe("the spool of a process that is gone", () => {
  /** Nobody has a process of this number. */
  const DEAD = "host_4194999_aaaaaaaaaaaa";
  const host = () => {
    const probe = create();
    probe.note(event("probe"));
    return (readdirSync(folder)[0] ?? "").split("_")[0] as string;
  };
  const leave = (writer: string, first: number, lines: readonly string[]) =>
    writeFileSync(join(folder, `${writer}.${first}.spool`), lines.map((line) => `${line}\n`).join(""));
  const lineOf = (name: string) =>
    JSON.stringify({
      timestamp: new Date(AT).toISOString(),
      trace_id: "0d6f8f0e-6f0b-4b57-9b2c-6a5d8c1b7e11",
      event_type: "TOOL_EXECUTED",
      actor: { type: "agent", id: "ann" },
      target: { server_id: "files", tool_name: name },
      result: "SUCCESS",
      details: { id: name, tenant: "default" },
    });

  test("is read back into its own chain, each event once, and then dropped", async () => {
    const own = host();
    await keptAll("probe");
    const writer = DEAD.replace("host", own);
    leave(writer, 0, [lineOf("a"), lineOf("b")]);
    leave(writer, 2, [lineOf("c")]);
    await create().open();
    expect(names()).toEqual(["probe", "a", "b", "c"]);
    leave(writer, 0, [lineOf("a"), lineOf("b")]);
    leave(writer, 2, [lineOf("c"), lineOf("d")]);
    await create().open();
    expect(names()).toEqual(["probe", "a", "b", "c", "d"]);
    expect(readdirSync(folder).filter((name) => name.startsWith(writer))).toEqual([]);
    expect(await verifyRows(kept.rows, { keys: [signer.publicKey] })).toMatchObject({ isIntact: true, events: 5 });
  });

  test("may end in the middle of a line: nobody was told about that event", async () => {
    const writer = DEAD.replace("host", host());
    await keptAll("probe");
    writeFileSync(join(folder, `${writer}.0.spool`), `${lineOf("a")}\n{"timestamp":"2026`);
    await create().open();
    expect(names()).toEqual(["probe", "a"]);
  });

  test("keeps what cannot be understood, because it was there", async () => {
    const writer = DEAD.replace("host", host());
    await keptAll("probe");
    leave(writer, 0, ["not an event", lineOf("a")]);
    await create().open();
    expect(kept.lines.slice(1)).toEqual(["not an event", lineOf("a")]);
  });

  test("goes where blocks go beside the store, as if its process had written them", async () => {
    const writer = DEAD.replace("host", host());
    await keptAll("probe");
    leave(writer, 0, [lineOf("a")]);
    await create({ beside: () => [policy("put")] }).open();
    expect(names()).toEqual(["probe", "a"]);
    expect(kept.others).toEqual([policy("put")]);
  });

  test("of another machine is left alone as long as somebody touches it", async () => {
    const elsewhere = DEAD.replace("host", "elsewhere");
    leave(elsewhere, 0, [lineOf("a")]);
    await create().open();
    expect(names()).toEqual([]);
  });

  test("waits for a store that is away", async () => {
    const writer = DEAD.replace("host", host());
    await keptAll("probe");
    leave(writer, 0, [lineOf("a")]);
    kept.isAway = true;
    const trail = create();
    await trail.open();
    kept.comeBack();
    trail.note(event("b"));
    await keptAll("probe", "b");
    time.advance(CHECKPOINT_MS);
    await keptAll("probe", "b", "a");
  });
});

describe("a checkpoint", () => {
  const settled = (count: number) => vi.waitFor(() => expect(kept.checkpoints).toHaveLength(count));

  test("is signed of all heads every ten seconds in which something happened", async () => {
    const [one, other] = [create(), create()];
    one.note(event("a"));
    other.note(event("b"));
    await vi.waitFor(() => expect(names().sort()).toEqual(["a", "b"]));
    time.advance(CHECKPOINT_MS);
    await settled(1);
    const { heads } = JSON.parse(kept.checkpoints[0]?.text ?? "") as { heads: { writer: string }[] };
    expect(heads.map(({ writer }) => writer).sort()).toEqual(kept.heads.map(({ writer }) => writer).sort());
    time.advance(CHECKPOINT_MS);
    await new Promise((resolve) => setImmediate(resolve));
    expect(kept.checkpoints).toHaveLength(1);
    one.note(event("c"));
    await vi.waitFor(() => expect(names()).toHaveLength(3));
    time.advance(CHECKPOINT_MS);
    await settled(2);
    expect(await verifyRows(kept.rows, { keys: [signer.publicKey] })).toMatchObject({ isIntact: true, uncovered: 0 });
  });

  test.each([Number.MAX_SAFE_INTEGER, AT + 2 * CHECKPOINT_MS])(
    "is signed whatever time somebody has put to the last one: %d",
    async (at) => {
      const trail = create();
      trail.note(event("a"));
      await keptAll("a");
      time.advance(CHECKPOINT_MS);
      await settled(1);
      Object.assign(kept.checkpoints[0] as object, { at });
      trail.note(event("b"));
      await keptAll("a", "b");
      time.advance(CHECKPOINT_MS);
      await settled(2);
    },
  );

  test("is signed, too, where the last one says that it comes from the future", async () => {
    const ahead = create({ now: () => AT + 3_600_000 });
    ahead.note(event("a"));
    await ahead.close();
    create().note(event("b"));
    await keptAll("a", "b");
    time.advance(CHECKPOINT_MS);
    await settled(2);
  });

  test("is signed with the end of the process", async () => {
    const trail = create();
    trail.note(event("a"));
    await trail.close();
    expect(kept.checkpoints).toHaveLength(1);
    expect(readdirSync(folder)).toEqual([]);
    expect(await verifyRows(kept.rows, { keys: [signer.publicKey] })).toMatchObject({ isIntact: true, uncovered: 0 });
  });
});

test("has of addresses only where they lead, however an event comes to it", async () => {
  const trail = create();
  const uri = "https://ann:hunter2@h.test/x?token=hunter2#hunter2";
  const types = [
    "TOOL_BLOCKED",
    "dev.isthmus.approval.requested",
    "dev.isthmus.call.lost",
    "dev.isthmus.task.read",
  ] as const;
  for (const type of types) {
    const told = event(uri, { type, details: { tool: `files.${uri}` } });
    trail.note(told);
    await trail.commit(told, []);
  }
  await vi.waitFor(() => expect(names()).toEqual(types.flatMap(() => ["https://h.test/x", "https://h.test/x"])));
  expect(JSON.stringify(kept.blocks)).not.toContain("hunter2");
});

test("a process that was taken for dead goes on in a new chain, and nothing is there twice", async () => {
  const trail = create();
  trail.note(event("a"));
  await keptAll("a");
  const [head] = kept.heads;
  // Somebody else reads its spool back, while it only slept.
  kept.isAway = true;
  trail.note(event("b"));
  trail.note(event("c"));
  await vi.waitFor(() => expect(log.lines).toHaveLength(1));
  const { makeBlock, entryOf } = await import("./block.ts");
  const stolen = spooled()[1] as string;
  const { block, terms } = makeBlock(head as never, [entryOf(stolen)], { signer, fromSpool: true });
  kept.isAway = false;
  await kept.write([{ table: "audit", type: "block", block, terms }]);
  kept.comeBack();
  await keptAll("a", "b", "c");
  expect(new Set(kept.blocks.map(({ writer }) => writer)).size).toBe(2);
  expect(log.lines.map(({ message }) => message)).toContain("audit chain was continued by somebody else");
  expect(await verifyRows(kept.rows, { keys: [signer.publicKey] })).toMatchObject({ isIntact: true, events: 3 });
});
