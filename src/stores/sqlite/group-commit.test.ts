import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { armFaultPoints, type SharedState } from "../../contract/index.ts";
import { createMemorySharedState } from "../memory/index.ts";
import { openSqlite, type SqliteConnection } from "./connection.ts";
import { createSqliteSharedState } from "./shared-state.ts";

const TTL_MS = 600_000;

let folder: string;
let connection: SqliteConnection;
let state: SharedState;
let nowMs: number;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "isthmus-sqlite-"));
  nowMs = 1_000_000;
  await open();
});
afterEach(() => {
  armFaultPoints(undefined);
  connection.close();
  rmSync(folder, { recursive: true });
});

async function open() {
  connection = await openSqlite(join(folder, "state.db"));
  const clock = { now: () => nowMs };
  state = createSqliteSharedState({
    connection,
    clock,
    now: () => nowMs,
    fleeting: createMemorySharedState({ clock }),
  });
}

const changes = () => connection.database.prepare("SELECT total_changes() AS n").pluck().get() as number;
const plain = (call: string) => ({ call, member: "m", session: "s", facts: "{}", ttlMs: TTL_MS });
const create = (key: string, value = "v") => state.entries.claim(key, "m", { value, ttlMs: TTL_MS });

describe("groups", () => {
  test("a call that is admitted and settled within one costs no row and no transaction", async () => {
    const before = changes();
    const points: string[] = [];
    armFaultPoints((point) => points.push(point));
    const ends = Array.from({ length: 100 }, (_, index) => [
      state.calls.admit(plain(`c${index}`)),
      state.calls.settle({ call: `c${index}`, session: "s" }),
    ]);
    await Promise.all(ends.flat());
    expect(changes()).toBe(before);
    expect(points).toEqual([]);
  });

  test("very many writes are several transactions, in their order, and what reads them waits for the last", async () => {
    const points: string[] = [];
    armFaultPoints((point) => points.push(point));
    const made = Array.from({ length: 1_000 }, (_, index) => create(`k${index}`));
    const seen = state.entries.get("k999");
    await made[0];
    const rows = () => connection.database.prepare("SELECT count(*) FROM entries").pluck().get();
    expect(rows()).toBe(256);
    expect(await seen).toMatchObject({ value: "v" });
    await Promise.all(made);
    expect(rows()).toBe(1_000);
    expect(points.filter((point) => point === "sqlite.group.written")).toHaveLength(4);
  });

  test("a close writes all that waits", async () => {
    const made = Array.from({ length: 600 }, (_, index) => create(`k${index}`));
    connection.close();
    expect(await Promise.all(made)).toHaveLength(600);
    await open();
    expect(await state.entries.get("k599")).toMatchObject({ value: "v" });
  });

  test("a call that is still open when its group is committed is a row until it is settled", async () => {
    const rows = () => connection.database.prepare("SELECT call FROM open_calls").pluck().all();
    await state.calls.admit(plain("slow"));
    expect(rows()).toEqual(["slow"]);
    await state.calls.settle({ call: "slow", session: "s" });
    expect(rows()).toEqual([]);
  });

  test("writes of one turn share a transaction", async () => {
    const points: string[] = [];
    armFaultPoints((point) => points.push(point));
    await Promise.all(Array.from({ length: 50 }, (_, index) => create(`k${index}`)));
    expect(points.filter((point) => point === "sqlite.group.written")).toHaveLength(1);
  });

  test("reads see what was written before them and is not committed yet", async () => {
    const [, entry] = await Promise.all([create("k"), state.entries.get("k")]);
    expect(entry?.value).toBe("v");
    const appended = state.logs.append("l", [{ sequence: 1, text: "t" }], {
      maxItems: 1,
      maxBytes: 9,
      ttlMs: TTL_MS,
    });
    expect(await state.logs.read("l", 0)).toHaveLength(1);
    await appended;
    const admitted = state.calls.admit(plain("c"));
    expect(await state.calls.openOf("s")).toHaveLength(1);
    await admitted;
  });

  test("work that throws is undone, and does not harm the others of its group", async () => {
    const { database, commits } = connection;
    await create("k");
    const bad = commits.write(() => {
      database.prepare("UPDATE entries SET value = 'half' WHERE key = 'k'").run();
      throw new Error("no");
    });
    const [failure] = await Promise.all([bad.catch((error: Error) => error.message), create("k2")]);
    expect(failure).toBe("no");
    expect((await state.entries.get("k"))?.value).toBe("v");
    expect((await state.entries.get("k2"))?.value).toBe("v");
    expect(state.isUp).toBe(true);
  });

  test("what waits when the file is closed is committed", async () => {
    const waiting = create("k");
    connection.close();
    await waiting;
    await open();
    expect((await state.entries.get("k"))?.value).toBe("v");
  });

  test("after closing, writes and reads are refused", async () => {
    connection.close();
    await expect(create("k")).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
  });

  test("an open call is forgotten a minute after the time it may run", async () => {
    await state.calls.admit({ ...plain("c"), ttlMs: 1_000 });
    nowMs += 60_999;
    expect(await state.calls.openOf("s")).toHaveLength(1);
    nowMs += 1;
    expect(await state.calls.openOf("s")).toEqual([]);
  });

  test("what has ended is swept with a later group", async () => {
    await state.entries.claim("old", "m", { value: "v", ttlMs: 1_000 });
    nowMs += 60_000;
    await create("new");
    expect(connection.database.prepare("SELECT key FROM entries").pluck().all()).toEqual(["new"]);
  });
});

describe("a disk that is full", () => {
  const pages = (name: string) => connection.database.pragma(name, { simple: true }) as number;
  const fill = () => connection.database.pragma(`max_page_count = ${pages("page_count")}`);
  const free = () => connection.database.pragma("max_page_count = 1000000");
  const big = "x".repeat(100_000);

  test("refuses all writes of the group, tells, and lets reads go on", async () => {
    await create("before");
    const health: boolean[] = [];
    state.onHealth((isUp) => health.push(isUp));
    fill();
    const ends = await Promise.allSettled([create("small"), create("big", big), create("small2")]);
    for (const end of ends) expect(end).toMatchObject({ status: "rejected", reason: { code: "STATE_UNAVAILABLE" } });
    expect([state.isUp, health]).toEqual([false, [false]]);
    expect((await state.entries.get("before"))?.value).toBe("v");
    for (const key of ["small", "small2", "big"]) expect(await state.entries.get(key)).toBeUndefined();
  });

  test("is tried again by itself until it takes writes, and calls that began meanwhile are kept then", async () => {
    fill();
    await expect(create("big", big)).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
    const admissions = Array.from({ length: 500 }, (_, index) =>
      state.calls.admit({ ...plain(`c${index}`), facts: "x".repeat(500) }),
    );
    await expect(Promise.all(admissions)).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
    expect(await state.calls.openOf("s")).toHaveLength(500);
    const isBack = new Promise<boolean>((resolve) => state.onHealth(resolve));
    free();
    expect(await isBack).toBe(true);
    connection.close();
    await open();
    expect(await state.calls.openOf("s")).toHaveLength(500);
    expect(await state.entries.get("big")).toBeUndefined();
    expect(await create("big", big)).toMatchObject({ fence: 1 });
  });

  test("does not trouble calls that nobody waits for", async () => {
    fill();
    for (let index = 0; index < 500; index += 1)
      void state.calls.admit({ ...plain(`c${index}`), facts: big.slice(0, 500) });
    await expect(state.calls.admit(plain("last"))).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
    void state.calls.settle({ call: "last", session: "s" });
    for (let index = 0; index < 500; index += 1) void state.calls.settle({ call: `c${index}`, session: "s" });
    await expect(connection.commits.end).resolves.toBeUndefined();
    expect(await state.calls.openOf("s")).toEqual([]);
  });
});
