import { describe, expect, test } from "vitest";
import { FakeRun } from "../../../tests/kit/fake-runs.ts";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { KeptMeter } from "../../../tests/kit/quiet.ts";
import { type Ask, type CallOrder, GatewayError, jsonText, payload } from "../../contract/index.ts";
import { KeptTasks, type KeptTasksOptions } from "./kept-tasks.ts";
import type { TaskTerms } from "./task-terms.ts";

const HOUR = 3_600_000;
const ME = { id: "me" };
const result = (value: unknown = {}) =>
  ({ type: "end", outcome: "result", payload: payload(jsonText(value)) }) as const;
const ask = (key: string): Ask => ({ key, kind: "elicit", method: "elicitation/create", input: payload("{}") });
const yes = (key: string) => ({ key, outcome: "result", payload: payload('{"action":"accept"}') }) as const;
const no = ({ key }: Ask) => ({ key, outcome: "fault", payload: payload("{}") }) as const;
const FREE: TaskTerms = { mayAsk: () => true, refusal: no };
const flush = () => new Promise((resolve) => setImmediate(resolve));

function runOf(principal = ME): FakeRun {
  const target = { provider: "p", kind: "tool", name: "t" } as const;
  const primitive = { kind: "tool", name: "t", definition: payload("{}"), repeatable: false } as const;
  const origin = { front: "test", protocol: "", requestId: "1" };
  const order: CallOrder = {
    entry: { name: "t", target, primitive },
    verb: "call",
    method: "tools/call",
    input: payload("{}"),
    principal,
    origin,
    life: "bound",
  };
  return new FakeRun(order);
}

function rig(options: Partial<KeptTasksOptions> = {}) {
  const time = new ManualTime();
  const meter = new KeptMeter();
  const tasks = new KeptTasks({ clock: time, timers: time, meter, ...options });
  function keep(terms: Partial<TaskTerms> = {}, principal = ME) {
    const run = runOf(principal);
    const task = tasks.keep(run, { cursor: -1, asks: [] }, { ...FREE, ...terms });
    if (!task) throw new Error("there is no room");
    return { run, task };
  }
  return { time, meter, tasks, keep };
}

describe("a kept task", () => {
  test("reads its run from where the former reader stood, and takes over what that had not settled", () => {
    const { tasks } = rig();
    const run = runOf();
    run.attach({ keeps: false, take: () => true }, -1);
    run.write({ type: "ask", asks: [ask("a")] });
    run.write({ type: "progress", payload: payload("{}") });
    const task = tasks.keep(run, { cursor: 0, asks: [ask("a")] }, FREE);
    expect(task).toMatchObject({ id: run.id, principal: ME, status: "input_required", ttlMs: HOUR, pollMs: 1000 });
    expect(run.extendedTo).toBe(HOUR);
    task?.answer([yes("a")]);
    expect(run.replies).toEqual([{ type: "answer", answers: [yes("a")] }]);
    run.write(result({ x: 1 }));
    expect(task).toMatchObject({ status: "completed", end: { outcome: "result" } });
  });

  test("takes what its run says before the run is known", () => {
    const { tasks } = rig();
    const run = runOf();
    const start = (reader: Parameters<FakeRun["attach"]>[0]) => {
      run.attach(reader, -1);
      run.write({ type: "status", state: "working", message: "hello" });
      run.write(result());
      return run;
    };
    expect(tasks.start(ME, start, FREE)).toMatchObject({ id: run.id, status: "completed", message: "hello" });
    expect(tasks.find(run.id, ME)?.status).toBe("completed");
  });

  test.each([
    [0, 1000],
    [1234.4, 1234],
    [undefined, HOUR],
    [Number.POSITIVE_INFINITY, 24 * HOUR],
  ])("asked to be kept for %s ms is kept for %i", (ttlMs, kept) => {
    const { keep, time, tasks } = rig();
    const { task, run } = keep(ttlMs === undefined ? {} : { ttlMs });
    expect([task.ttlMs, run.extendedTo]).toEqual([kept, kept]);
    time.advance(kept - 1);
    expect(tasks.find(task.id, ME)).toBe(task);
    time.advance(1);
    expect([tasks.find(task.id, ME), run.cancelled]).toEqual([undefined, "the time of the task is over"]);
    expect([time.pending, task.status]).toEqual([0, "cancelled"]);
  });

  test("is kept longer when the provider says so, and never shorter", () => {
    const { keep, time, tasks } = rig();
    const { task, run } = keep({ ttlMs: 10_000 });
    time.advance(5000);
    run.write({ type: "status", state: "working", keepMs: 1000, retryMs: 250, message: "half" });
    expect(task).toMatchObject({ ttlMs: 10_000, pollMs: 250, message: "half" });
    run.write({ type: "status", state: "working", keepMs: 30_000 });
    expect([task.ttlMs, run.extendedTo]).toEqual([35_000, 30_000]);
    time.advance(29_999);
    expect(tasks.size).toBe(1);
    time.advance(1);
    expect(tasks.size).toBe(0);
  });

  test("says when it was made and when it changed last", () => {
    const { keep, time } = rig();
    const { task, run } = keep();
    const made = Date.parse(task.createdAt);
    expect(task.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(task.lastUpdatedAt).toBe(task.createdAt);
    time.advance(1500);
    run.write({ type: "status", state: "working", message: "on" });
    expect(Date.parse(task.lastUpdatedAt) - made).toBe(1500);
    time.advance(1500);
    run.write({ type: "status", state: "working", message: "on" });
    expect(Date.parse(task.lastUpdatedAt) - made).toBe(1500);
  });

  test("wants input until everything is answered or withdrawn, and passes on only answers to what is asked", () => {
    const { keep } = rig();
    const { task, run } = keep();
    run.write({ type: "ask", asks: [ask("a"), ask("b")] });
    run.write({ type: "ask", asks: [ask("c")] });
    task.answer([yes("a"), yes("nope")]);
    task.answer([yes("a")]);
    expect([...task.pending].map(({ key }) => key)).toEqual(["b", "c"]);
    run.write({ type: "notice", method: "notifications/cancelled", payload: payload("{}"), key: "b" });
    expect(task.status).toBe("input_required");
    task.answer([yes("c")]);
    expect(task.status).toBe("working");
    expect(run.replies).toEqual([yes("a"), yes("c")].map((one) => ({ type: "answer", answers: [one] })));
  });

  test("refuses what nobody can be asked, and more than 64 questions at once", async () => {
    const { keep } = rig();
    const { task, run } = keep({ mayAsk: ({ key }) => key !== "never" });
    run.write({ type: "ask", asks: [ask("never")] });
    await flush();
    expect([task.status, run.replies]).toEqual(["working", [{ type: "answer", answers: [no(ask("never"))] }]]);
    run.write({ type: "ask", asks: Array.from({ length: 70 }, (_, at) => ask(`q${at}`)) });
    await flush();
    expect([[...task.pending].length, run.replies.length]).toEqual([64, 7]);
  });

  test.each([
    ["completed", result({ isError: true })],
    ["failed", { type: "end", outcome: "fault", payload: payload('{"code":1,"message":"no"}') }],
    ["failed", { type: "end", outcome: "input", payload: payload("{}") }],
    ["failed", { type: "error", error: new GatewayError("PROVIDER_UNREACHABLE") }],
    ["cancelled", { type: "error", error: new GatewayError("CANCELLED") }],
  ] as const)("is %s by how its run ends", (status, event) => {
    const { keep, tasks } = rig();
    const { task, run } = keep();
    run.write({ type: "ask", asks: [ask("a")] });
    run.write(event);
    expect([task.status, task.isOver, [...task.pending]]).toEqual([status, true, []]);
    task.cancel("too late");
    task.answer([yes("a")]);
    expect([task.status, run.cancelled, run.replies, tasks.size]).toEqual([status, undefined, [], 1]);
  });

  test("stays cancelled, whatever its run says then", () => {
    const { keep } = rig();
    const { task, run } = keep();
    task.cancel("enough");
    run.isEnded = false;
    run.write(result());
    expect([task.status, task.end, run.cancelled]).toEqual(["cancelled", undefined, "enough"]);
  });

  test("tells of every change, at most 64 watchers, and nobody who has stopped", () => {
    const { keep } = rig();
    const { task, run } = keep();
    const seen: string[] = [];
    const stop = task.watch(() => seen.push(task.status));
    for (let at = 0; at < 63; at++) expect(task.watch(() => undefined)).toBeTypeOf("function");
    expect(task.watch(() => undefined)).toBeUndefined();
    run.write({ type: "ask", asks: [ask("a")] });
    task.answer([yes("a")]);
    run.write({ type: "progress", payload: payload("{}") });
    stop?.();
    run.write(result());
    expect(seen).toEqual(["input_required", "working"]);
  });

  test("lets its maker overhear progress and log lines", () => {
    const heard: string[] = [];
    const { keep } = rig();
    const { run } = keep({ overhear: ({ type }) => heard.push(type) });
    run.write({ type: "progress", payload: payload("{}") });
    run.write({ type: "log", payload: payload("{}") });
    run.write({ type: "status", state: "working" });
    expect(heard).toEqual(["progress", "log"]);
  });
});

describe("the tasks that are kept", () => {
  test("are seen only by whoever made them, newest first", () => {
    const { keep, tasks } = rig();
    const [first, second] = [keep(), keep()];
    const other = keep({}, { id: "other" });
    expect(tasks.of(ME)).toEqual([second.task, first.task]);
    expect(tasks.find(other.task.id, ME)).toBeUndefined();
    expect(tasks.find(other.task.id, { id: "other" })).toBe(other.task);
    expect(tasks.of({ id: "nobody" })).toEqual([]);
  });

  test("are at most 1000 of one caller: the oldest that is over goes, and is counted", () => {
    const { keep, tasks, meter } = rig();
    const all = Array.from({ length: 1000 }, () => keep());
    expect(() => keep()).toThrow("no room");
    keep({}, { id: "other" });
    all[7]?.run.write(result());
    all[3]?.run.write(result());
    keep();
    expect(tasks.find(all[3]?.task.id ?? "", ME)).toBeUndefined();
    expect(tasks.find(all[7]?.task.id ?? "", ME)).toBeDefined();
    expect([tasks.size, meter.of("isthmus_runs_evicted_total task")]).toEqual([1001, 1]);
  });

  test("are at most 10,000", () => {
    const { keep, tasks, time } = rig();
    const all = Array.from({ length: 10_000 }, (_, at) => keep({}, { id: `caller ${at % 100}` }));
    expect(() => keep()).toThrow("no room");
    all[5000]?.run.write(result());
    keep();
    expect([tasks.size, time.pending]).toEqual([10_000, 10_000]);
    tasks.close();
    tasks.close();
    expect([tasks.size, time.pending, tasks.of(ME)]).toEqual([0, 0, []]);
    expect(all.filter(({ run }) => run.cancelled !== undefined)).toHaveLength(9999);
  });

  test("keep so many bytes of ends: what ended first goes first", () => {
    const { keep, tasks, meter } = rig({ maxBytes: 100 });
    const [first, second, third] = [keep(), keep(), keep()];
    second.run.write(result("x".repeat(58)));
    first.run.write(result("x".repeat(38)));
    expect(tasks.bytes).toBe(100);
    third.run.write(result("x"));
    expect(tasks.find(second.task.id, ME)).toBeUndefined();
    expect([tasks.bytes, tasks.size, meter.of("isthmus_runs_evicted_total task")]).toEqual([43, 2, 1]);
    keep().run.write(result("x".repeat(200)));
    expect([tasks.bytes, tasks.size]).toEqual([0, 0]);
  });

  test("count those that wait for input", () => {
    const { keep, tasks } = rig();
    keep();
    keep().run.write({ type: "ask", asks: [ask("a")] });
    expect(tasks.waiting).toBe(1);
  });

  test("start nothing where there is no room", () => {
    const { tasks } = rig({ maxTasks: 0 });
    let starts = 0;
    const start = () => {
      starts++;
      return runOf();
    };
    expect([tasks.start(ME, start, FREE), starts]).toEqual([undefined, 0]);
  });
});
