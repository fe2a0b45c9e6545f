import { describe, expect, test } from "vitest";
import { FakeRun } from "../../../tests/kit/fake-runs.ts";
import { FakeTaskRows } from "../../../tests/kit/fake-task-rows.ts";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { KeptMeter } from "../../../tests/kit/quiet.ts";
import { type Ask, type CallEvent, type CallOrder, GatewayError, payload } from "../../contract/index.ts";
import { createMemorySharedState } from "../../stores/memory/index.ts";
import { KeptTasks } from "./kept-tasks.ts";
import type { TaskTerms } from "./task-terms.ts";

const ME = { id: "me" };
/** Whatever there is. */
const ALL = { limit: 100, isWanted: () => true };
const TERMS: TaskTerms = {
  mayAsk: () => true,
  refusal: ({ key }: Ask) => ({ key, outcome: "fault", payload: payload("{}") }) as const,
};
const ask: Ask = { key: "a", kind: "elicit", method: "elicitation/create", input: payload("{}") };
const result: CallEvent = { type: "end", outcome: "result", payload: payload('{"content":[],"x":"\u00c3\u00bc"}') };
const flush = () => new Promise((resolve) => setImmediate(resolve));

function runOf(principal = ME): FakeRun {
  const target = { provider: "p", kind: "tool", name: "t" } as const;
  const primitive = { kind: "tool", name: "t", definition: payload("{}"), repeatable: false } as const;
  const order: CallOrder = {
    entry: { name: "t", target, primitive },
    verb: "call",
    method: "tools/call",
    input: payload("{}"),
    principal,
    origin: { front: "test", protocol: "", requestId: "1" },
    life: "detached",
  };
  return new FakeRun(order);
}

function world() {
  const time = new ManualTime();
  const rows = new FakeTaskRows();
  const { members } = createMemorySharedState({ clock: time });
  /** What is said of tasks whose process is gone, with how its row stood then. */
  const lost: string[] = [];
  const onLost = ({ id }: { readonly id: string }) => void lost.push(rows.rows.get(id)?.isOver ? "late" : "before");
  async function process(id: string) {
    let name = id;
    await members.join({ id, address: `${id}:1` }, 1e9);
    const store = { records: { tasks: rows, isUp: true }, members, member: () => name, onLost };
    const tasks = new KeptTasks({ clock: time, timers: time, meter: new KeptMeter(), store });
    async function make(terms: Partial<TaskTerms> = {}) {
      const run = runOf();
      const task = tasks.keep(run, { cursor: -1, asks: [] }, { ...TERMS, ...terms });
      if (!task) throw new Error("there is no room");
      await task.stored;
      return { run, task };
    }
    /** It was taken for dead, and is there again. */
    async function rejoin(as: string) {
      await members.leave(name);
      await members.join({ id: as, address: `${as}:1` }, 1e9);
      name = as;
    }
    return { tasks, make, rejoin };
  }
  return { time, rows, members, process, lost };
}

describe("a task that outlives its process", () => {
  test("lists those of many that are wanted, without what came of them, and whether their tool failed", async () => {
    const { process } = world();
    const first = await process("one");
    for (let number = 0; number < 130; number++) {
      const { task, run } = await first.make();
      run.write({ type: "end", outcome: "result", payload: payload(`{"isError":${number === 0}}`) });
      await task.ending;
    }
    const second = await process("two");
    const all = await second.tasks.list(ME, { limit: 200, isWanted: () => true });
    expect(all).toHaveLength(130);
    expect(all.every(({ end }) => end === undefined)).toBe(true);
    expect(all.filter(({ isError }) => isError)).toHaveLength(1);
    const [oldest] = all.slice(-1);
    const isWanted = ({ id }: { readonly id: string }) => id === oldest?.id;
    expect(await second.tasks.list(ME, { limit: 1, isWanted })).toEqual([oldest]);
  });

  test.each([
    ["completed", result, { outcome: "result", payload: { text: '{"content":[],"x":"\u00c3\u00bc"}' } }],
    [
      "failed",
      { type: "end", outcome: "fault", payload: payload('{"code":-1,"message":"no"}') },
      { outcome: "fault", payload: { text: '{"code":-1,"message":"no"}' } },
    ],
    [
      "failed",
      { type: "error", error: new GatewayError("PROVIDER_FAILED", { message: "broke" }) },
      { error: { code: "PROVIDER_FAILED", message: "broke" } },
    ],
    ["cancelled", { type: "error", error: new GatewayError("CANCELLED") }, undefined],
  ] as const)("is %s for any process after a restart, as it was before", async (status, event, end) => {
    const { process, members } = world();
    const first = await process("one");
    const { run, task } = await first.make({ ttlMs: 60_000, pollMs: 700 });
    run.write(event);
    await task.ending;
    expect(task.status).toBe(status);
    const { id, createdAt, lastUpdatedAt, message } = task;
    first.tasks.close();
    await members.leave("one");
    const second = await process("two");
    expect(second.tasks.find(id, ME)).toBeUndefined();
    const found = await second.tasks.seek(id, ME);
    expect(found).toMatchObject({
      type: "over",
      task: { id, status, message, createdAt, lastUpdatedAt, ttlMs: 60_000, pollMs: 700, isOver: true },
    });
    if (end === undefined) expect(found?.task.end).toBeUndefined();
    else expect(found?.task.end).toMatchObject(end);
    expect(await second.tasks.list(ME, ALL)).toMatchObject([{ id, status }]);
  });

  test("that ran when its process died has failed, once and for all: nobody knows how it ended", async () => {
    const { process, members, rows, time } = world();
    const first = await process("one");
    const { run, task } = await first.make();
    run.write({ type: "ask", asks: [ask] });
    await members.leave("one");
    const [second, third] = [await process("two"), await process("three")];
    time.advance(1000);
    const both = await Promise.all([second.tasks.seek(task.id, ME), third.tasks.seek(task.id, ME)]);
    for (const found of both) {
      expect(found).toMatchObject({
        type: "over",
        task: { status: "failed", end: { error: { code: "OUTCOME_UNKNOWN" } } },
      });
    }
    expect(both[0]?.task.lastUpdatedAt).toBe(both[1]?.task.lastUpdatedAt);
    // The process was only slow: what it learns now comes too late, and it says what the others said.
    run.write(result);
    await task.ending;
    expect([task.status, task.end]).toMatchObject(["failed", { error: { code: "OUTCOME_UNKNOWN" } }]);
    expect(JSON.parse(rows.rows.get(task.id)?.state ?? "")).toMatchObject({ status: "failed" });
  });

  test("that died with its process is told of before it is written down that it has failed, and not again", async () => {
    const { process, members, lost } = world();
    const { task } = await (await process("one")).make();
    await members.leave("one");
    const second = await process("two");
    for (let time = 0; time < 2; time++) await second.tasks.seek(task.id, ME);
    expect(lost).toEqual(["before"]);
  });

  test("ends as it ends when its process had to join anew and nobody has asked meanwhile", async () => {
    const { process } = world();
    const first = await process("one");
    const { run, task } = await first.make();
    await first.rejoin("one again");
    run.write(result);
    await task.ending;
    expect(await (await process("two")).tasks.seek(task.id, ME)).toMatchObject({ task: { status: "completed" } });
  });

  test("is known to be elsewhere while its process lives", async () => {
    const { process } = world();
    const { task } = await (await process("one")).make();
    const second = await process("two");
    expect(await second.tasks.seek(task.id, ME)).toMatchObject({
      type: "elsewhere",
      home: { id: "one", address: "one:1" },
    });
    expect(await second.tasks.list(ME, ALL)).toMatchObject([{ id: task.id, status: "working" }]);
  });

  test("does not exist for anybody else, nor when its time is over", async () => {
    const { process, rows, time } = world();
    const first = await process("one");
    const { run, task } = await first.make({ ttlMs: 60_000 });
    run.write(result);
    await task.ending;
    const second = await process("two");
    expect(await second.tasks.seek(task.id, { id: "other" })).toBeUndefined();
    expect(await second.tasks.seek("nothing", ME)).toBeUndefined();
    rows.rows.set("left", { ...(rows.rows.get(task.id) as never as object), id: "left" } as never);
    time.advance(60_000);
    await flush();
    expect(await second.tasks.seek("left", ME)).toBeUndefined();
    time.advance(60_000);
    await flush();
    expect(rows.rows.size).toBe(0);
  });

  test("keeps the time that its provider gave it later", async () => {
    const { process, rows } = world();
    const { run, task } = await (await process("one")).make({ ttlMs: 1000 });
    const before = rows.rows.get(task.id)?.expiresAt ?? 0;
    run.write({ type: "status", state: "working", keepMs: 50_000 });
    await flush();
    expect((rows.rows.get(task.id)?.expiresAt ?? 0) - before).toBe(49_000);
  });
});

describe("a store that does not answer", () => {
  test("makes no task, and its call is cancelled", async () => {
    const { process, rows } = world();
    const { tasks } = await process("one");
    rows.refuses.add("put");
    const run = runOf();
    const task = tasks.keep(run, { cursor: -1, asks: [] }, TERMS);
    await expect(task?.stored).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
    expect([run.cancelled, tasks.size, tasks.find(run.id, ME)]).toEqual(["the task could not be stored", 0, undefined]);
  });

  test("lets nobody hear that a task is over until it is back", async () => {
    const { process, rows, time } = world();
    const { make } = await process("one");
    const { run, task } = await make();
    rows.refuses.add("update");
    const seen: string[] = [];
    task.watch(() => seen.push(task.status));
    run.write(result);
    await expect(task.ending).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
    expect([task.status, seen]).toEqual(["working", []]);
    task.cancel("too late");
    time.advance(250);
    await flush();
    expect(task.status).toBe("working");
    rows.refuses.clear();
    time.advance(500);
    await flush();
    expect([task.status, seen, run.cancelled]).toEqual(["completed", ["completed"], undefined]);
    expect(rows.rows.get(task.id)?.isOver).toBe(true);
  });

  test("hides tasks that are not here, and says so", async () => {
    const { process, rows } = world();
    const { tasks } = await process("one");
    rows.refuses.add("get");
    await expect(tasks.seek("x", ME)).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
    await expect(tasks.list(ME, ALL)).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
  });
});
