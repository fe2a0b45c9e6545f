import { describe, expect, test } from "vitest";
import { until } from "../../../tests/kit/mcp-rig.ts";
import { modern, modernCall } from "../../../tests/kit/modern-client.ts";
import { nthMade, processRig, type SharedParts, sharedParts } from "../../../tests/kit/process-rig.ts";
import { TAKES_TASKS } from "../../../tests/kit/task-rig.ts";
import { type CallEvent, payload } from "../../contract/index.ts";

type Process = Awaited<ReturnType<typeof processRig>>;
type Told = { readonly status: string; readonly [key: string]: unknown };

const KEEP: CallEvent = { type: "status", state: "working", keepMs: 60_000 };
const RESULT: CallEvent = {
  type: "end",
  outcome: "result",
  payload: payload('{"content":[{"type":"text","text":"hi"}]}'),
};
const FAULT: CallEvent = { type: "end", outcome: "fault", payload: payload('{"code":-7,"message":"no"}') };

/** One era's way to make a task and to speak about it. */
interface Era {
  make(process: Process, shared: SharedParts): Promise<string>;
  get(process: Process, taskId: string): Promise<{ error?: { code: number }; result?: Told }>;
  cancel(process: Process, taskId: string): Promise<object>;
}

const request = (method: string, params: object) => ({ jsonrpc: "2.0", id: 3, method, params });

/** Throws the answer where it tells of no task. */
function idIn(body: object, id: string | undefined): string {
  if (id === undefined) throw new Error(JSON.stringify(body));
  return id;
}

const older: Era = {
  async make(process, shared) {
    const headers = await process.initialize();
    const params = { name: "files.echo", arguments: {}, task: { ttl: 60_000 } };
    const { body } = await process.send({ headers, body: request("tools/call", params) });
    await nthMade(shared, shared.made.length - 1);
    return idIn(body, (body as { result?: { task: { taskId: string } } }).result?.task.taskId);
  },
  async get(process, taskId) {
    const headers = await process.initialize();
    return (await process.send({ headers, body: request("tasks/get", { taskId }) })).body;
  },
  async cancel(process, taskId) {
    const headers = await process.initialize();
    return (await process.send({ headers, body: request("tasks/cancel", { taskId }) })).body;
  },
};

const newer: Era = {
  async make(process, shared) {
    const before = shared.made.length;
    const answer = process.send(modernCall({}, { capabilities: TAKES_TASKS }) as never);
    (await nthMade(shared, before)).write(KEEP);
    const { body } = await answer;
    return idIn(body, (body as { result?: { taskId?: string } }).result?.taskId);
  },
  async get(process, taskId) {
    return (await process.send(modern("tasks/get", { taskId }, { capabilities: TAKES_TASKS }) as never)).body;
  },
  async cancel(process, taskId) {
    return (await process.send(modern("tasks/cancel", { taskId }, { capabilities: TAKES_TASKS }) as never)).body;
  },
};

const ERAS: readonly (readonly [string, Era])[] = [
  ["2025-11-25", older],
  ["2026-07-28", newer],
];

describe.each(ERAS)("a task of a gateway of several processes (%s)", (name, era) => {
  test.each([
    ["completed", RESULT],
    ["failed", FAULT],
  ] as const)("that has %s is told the same by another process after its own is gone", async (status, event) => {
    const shared = sharedParts("told");
    await using two = await processRig(shared, "two");
    let taskId = "";
    let before: object = {};
    {
      await using one = await processRig(shared, "one");
      taskId = await era.make(one, shared);
      (await nthMade(shared, 0)).write(event);
      before = await era.get(one, taskId);
      await one.die();
    }
    expect(before).toMatchObject({ result: { status } });
    expect(await era.get(two, taskId)).toEqual(before);
    expect(shared.made).toHaveLength(1);
  });

  test("that runs is asked about where it runs", async () => {
    const shared = sharedParts("told");
    await using one = await processRig(shared, "one");
    await using two = await processRig(shared, "two");
    const taskId = await era.make(one, shared);
    expect(await era.get(two, taskId)).toMatchObject({ result: { taskId, status: "working" } });
    const call = await nthMade(shared, 0);
    call.write({ type: "status", state: "working", message: "half" });
    expect(await era.get(two, taskId)).toMatchObject({ result: { statusMessage: "half" } });
    expect(await era.cancel(two, taskId)).toHaveProperty("result");
    expect(call.replies).toMatchObject([{ type: "cancel" }]);
    expect(await era.get(one, taskId)).toMatchObject({ result: { status: "cancelled" } });
    expect(await era.get(two, taskId)).toMatchObject({ result: { status: "cancelled" } });
  });

  test("that ran when its process died has failed, for good", async () => {
    const shared = sharedParts("told");
    await using two = await processRig(shared, "two");
    await using one = await processRig(shared, "one");
    const taskId = await era.make(one, shared);
    await one.die();
    const first = await era.get(two, taskId);
    expect(first).toMatchObject({
      result: { status: "failed", statusMessage: "The process that ran this task is gone." },
    });
    if (name === "2026-07-28")
      expect(first).toMatchObject({ result: { error: { data: { code: "OUTCOME_UNKNOWN" } } } });
    shared.time.advance(1000);
    expect(await era.get(two, taskId)).toEqual(first);
  });

  test("is refused while it cannot be stored, and its call is cancelled, which may have been made", async () => {
    const shared = sharedParts("told");
    shared.rows.refuses.add("put");
    await using one = await processRig(shared, "one");
    const made = era.make(one, shared).catch((answer: Error) => answer.message);
    const call = await nthMade(shared, 0);
    expect(await made).toContain("OUTCOME_UNKNOWN");
    expect(call.replies).toMatchObject([{ type: "cancel", reason: "the task could not be stored" }]);
    expect(one.tasks.size).toBe(0);
  });

  test("is not told to be unknown while the store is away", async () => {
    const shared = sharedParts("told");
    shared.rows.refuses.add("get");
    await using one = await processRig(shared, "one");
    expect(await era.get(one, "whatever")).toMatchObject({
      error: { code: -32603, data: { code: "STATE_UNAVAILABLE", retry: "later" } },
    });
  });

  test("that is not the caller's is as unknown as one that never was", async () => {
    const shared = sharedParts("told");
    await using one = await processRig(shared, "one");
    const taskId = await era.make(one, shared);
    const row = shared.rows.rows.get(taskId);
    if (!row) throw new Error("there is no row");
    shared.rows.rows.set("foreign", { ...row, id: "foreign", principal: "other", isOver: true });
    expect(await era.get(one, "foreign")).toEqual(await era.get(one, "never was"));
  });
});

describe("tasks of 2025-11-25 in several processes", () => {
  test("are listed together, and their results are told by whoever is asked", async () => {
    const shared = sharedParts("told");
    await using two = await processRig(shared, "two");
    await using one = await processRig(shared, "one");
    const first = await older.make(one, shared);
    // Each process began its own count of time when it was made: by more than that they do not differ.
    shared.time.advance(5_000);
    const second = await older.make(two, shared);
    const headers = await two.initialize();
    const list = await two.send({ headers, body: request("tasks/list", {}) });
    expect(list.body).toMatchObject({ result: { tasks: [{ taskId: second }, { taskId: first, status: "working" }] } });
    const waiting = two.send({ headers, body: request("tasks/result", { taskId: first }) });
    await until(() => shared.hops === 1);
    shared.made[0]?.write(RESULT);
    expect((await waiting).body).toMatchObject({ result: { content: [{ text: "hi" }] } });
    await one.die();
    const later = await two.send({ headers, body: request("tasks/result", { taskId: first }) });
    expect(later.body).toEqual((await waiting).body);
    const cancel = await two.send({ headers, body: request("tasks/cancel", { taskId: first }) });
    expect(cancel.body).toMatchObject({ error: { code: -32602 } });
  });
});
