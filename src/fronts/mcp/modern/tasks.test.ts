import { describe, expect, test } from "vitest";
import { FakeView, okProvider } from "../../../../tests/kit/fake-catalog.ts";
import { endWith, mcpRig, until } from "../../../../tests/kit/mcp-rig.ts";
import { META, type ModernOptions, modern, modernCall } from "../../../../tests/kit/modern-client.ts";
import { ask } from "../../../../tests/kit/round-rig.ts";
import { TAKES_TASKS, taskRig, taskView } from "../../../../tests/kit/task-rig.ts";
import { type CallEvent, GatewayError, payload } from "../../../contract/index.ts";

const KEEP: CallEvent = { type: "status", state: "working", keepMs: 60_000, retryMs: 500, message: "at it" };
const WITH: ModernOptions = { capabilities: TAKES_TASKS };
const INFO = { [`${META}serverInfo`]: { name: "isthmus", version: "0.0.0" } };

type Task = { resultType: string; taskId: string; status: string; [key: string]: unknown };

async function rigWith(outlasts: "told" | "slow" | "own" = "told") {
  const rig = await taskRig(outlasts);
  const get = async (taskId: string) =>
    (await rig.send(modern("tasks/get", { taskId }, WITH))).json<{ result: Task }>().result;
  /** A call that its provider makes a task of. */
  async function made() {
    const answer = rig.send(modernCall({}, WITH));
    const run = await rig.nextRun();
    run.write(KEEP);
    return { run, task: (await answer).json<{ result: Task }>().result };
  }
  return { ...rig, get, made };
}

describe("a call whose client takes tasks", () => {
  test("is answered with the task that its provider has made of it", async () => {
    await using rig = await rigWith();
    const { run, task } = await rig.made();
    expect(run.order).toMatchObject({ mayDefer: true, life: "bound" });
    expect(task).toEqual({
      resultType: "task",
      taskId: run.id,
      status: "working",
      statusMessage: "at it",
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      lastUpdatedAt: task.createdAt,
      ttlMs: 60_000,
      pollIntervalMs: 500,
      _meta: INFO,
    });
    expect([run.extendedTo, run.isRead, run.cancelled]).toEqual([60_000, true, undefined]);
    run.write(endWith({ content: [{ type: "text", text: "hi" }] }));
    const { resultType: _, ...known } = task;
    expect(await rig.get(task.taskId)).toEqual({
      ...known,
      resultType: "complete",
      status: "completed",
      result: { content: [{ type: "text", text: "hi" }], resultType: "complete", _meta: INFO },
    });
  });

  test("is answered at once when it ends before anybody speaks of a task", async () => {
    await using rig = await rigWith("slow");
    rig.runs.onStart = (run) => run.write(endWith({ content: [] }));
    const answer = (await rig.send(modernCall({}, WITH))).json().result;
    expect(answer).toMatchObject({ resultType: "complete", content: [] });
    expect([rig.tasks.size, rig.runs.last.order.mayDefer]).toEqual([0, true]);
  });

  test("loses nothing that was said before the run was known", async () => {
    await using rig = await rigWith();
    rig.runs.onStart = (run) => {
      run.write(KEEP);
      run.write({ type: "ask", asks: [ask("q")] });
      run.write(endWith({ content: [{ type: "text", text: "early" }] }));
    };
    const { taskId } = (await rig.send(modernCall({}, WITH))).json<{ result: Task }>().result;
    expect(await rig.get(taskId)).toMatchObject({ status: "completed", result: { content: [{ text: "early" }] } });
  });

  test("becomes a task after two seconds where the operator says that it is slow", async () => {
    await using rig = await rigWith("slow");
    const answer = rig.send(modernCall({}, WITH));
    const run = await rig.nextRun();
    rig.time.advance(1999);
    expect(rig.tasks.size).toBe(0);
    rig.time.advance(1);
    const { result } = (await answer).json<{ result: Task }>();
    expect(result).toMatchObject({ resultType: "task", status: "working", ttlMs: 3_600_000, pollIntervalMs: 1000 });
    expect(run.cancelled).toBeUndefined();
  });

  test("is waited for where nobody could be told of its task, since a rule reads arguments too long to be kept", async () => {
    await using rig = await rigWith("slow");
    rig.catalog.tells = (_catalog, _principal, { args }) => args !== undefined;
    const answer = rig.send(modernCall({ x: "x".repeat(20_000) }, WITH));
    const run = await rig.nextRun();
    rig.time.advance(2000);
    run.write(endWith({ content: [] }));
    expect((await answer).json().result).toMatchObject({ resultType: "complete" });
  });

  test.each(["told", "own"] as const)(
    "waits as long as it takes where the provider alone makes tasks (%s)",
    async (outlasts) => {
      await using rig = await rigWith(outlasts);
      const answer = rig.send(modernCall({}, WITH));
      const run = await rig.nextRun();
      rig.time.advance(10_000);
      run.write(endWith({ content: [] }));
      expect((await answer).json().result).toMatchObject({ resultType: "complete" });
    },
  );

  test("asks in rounds before it becomes a task, and has two seconds more after each", async () => {
    await using rig = await rigWith("slow");
    const answer = rig.send(modernCall({}, WITH));
    const run = await rig.nextRun();
    rig.time.advance(1990);
    run.write({ type: "ask", asks: [ask("q")] });
    rig.time.advance(25);
    const asked = (await answer).json<{ result: { resultType: string; requestState: string } }>().result;
    expect(asked.resultType).toBe("input_required");
    rig.time.advance(10_000);
    const more = { requestState: asked.requestState, inputResponses: { q: { action: "accept" } } };
    const back = rig.send(modernCall({}, { ...WITH, more }));
    await until(() => run.replies.length === 1);
    rig.time.advance(1999);
    expect(rig.tasks.size).toBe(0);
    rig.time.advance(1);
    const task = (await back).json<{ result: Task }>().result;
    expect(task).toMatchObject({ resultType: "task", taskId: run.id });
    expect(task).not.toHaveProperty("requestState");
  });

  test("comes back from a round to the task that its provider has made meanwhile", async () => {
    await using rig = await rigWith();
    const answer = rig.send(modernCall({}, WITH));
    const run = await rig.nextRun();
    run.write({ type: "ask", asks: [ask("q"), ask("r")] });
    rig.time.advance(25);
    const { requestState } = (await answer).json<{ result: { requestState: string } }>().result;
    run.write(KEEP);
    const more = { requestState, inputResponses: { q: { action: "accept" } } };
    const task = (await rig.send(modernCall({}, { ...WITH, more }))).json<{ result: Task }>().result;
    expect(task).toMatchObject({ resultType: "task", status: "input_required", ttlMs: 60_000 });
    expect(Object.keys((await rig.get(task.taskId)).inputRequests as object)).toEqual(["r"]);
  });

  test("takes questions that were about to be asked along into the task", async () => {
    await using rig = await rigWith();
    const answer = rig.send(modernCall({}, WITH));
    const run = await rig.nextRun();
    run.write({ type: "ask", asks: [ask("q")] });
    run.write(KEEP);
    const task = (await answer).json<{ result: Task }>().result;
    expect(task).toMatchObject({ resultType: "task", status: "input_required" });
    rig.time.advance(1000);
    expect(await rig.get(task.taskId)).toMatchObject({ inputRequests: { q: { method: "elicitation/create" } } });
  });

  test("is cancelled by a client that leaves before the task, and not by one that leaves after", async () => {
    await using rig = await rigWith("slow");
    const gone = new AbortController();
    const lost = rig.send(modernCall({}, { ...WITH, signal: gone.signal })).catch(() => undefined);
    const run = await rig.nextRun();
    gone.abort();
    await lost;
    await until(() => run.cancelled !== undefined);
    rig.time.advance(5000);
    expect(rig.tasks.size).toBe(0);
    const { run: kept, task } = await rig.made();
    expect([kept.cancelled, (await rig.get(task.taskId)).status]).toEqual([undefined, "working"]);
  });

  test("stays a call where there is no room for another task", async () => {
    await using rig = await rigWith();
    for (let at = 0; at < 1000; at++) rig.foreignTask({ id: "local" });
    const answer = rig.send(modernCall({}, WITH));
    const run = await rig.nextRun();
    run.write(KEEP);
    run.write(endWith({ content: [] }));
    expect((await answer).json().result).toMatchObject({ resultType: "complete" });
  });

  test("keeps the session it was made in from idling away, until the task is over", async () => {
    await using rig = await rigWith();
    const { run } = await rig.made();
    const session = rig.sessions.find(run.order.session?.id ?? "", { id: "local" });
    expect(session?.isBusy).toBe(true);
    run.write(endWith({ content: [] }));
    expect(session?.isBusy).toBe(false);
  });

  test("that does not declare the extension never becomes a task", async () => {
    await using rig = await rigWith("slow");
    const answer = rig.send(modernCall({}, { more: { task: { ttl: 1 } } }));
    const run = await rig.nextRun();
    expect([run.order.mayDefer, run.order.input.at(["task"])]).toEqual([undefined, undefined]);
    run.write(KEEP);
    rig.time.advance(5000);
    run.write(endWith({ content: [] }));
    expect((await answer).text).toContain('"resultType":"complete"');
    expect(rig.tasks.size).toBe(0);
  });
});

describe("tasks/get", () => {
  test.each([
    ["completed", endWith({ content: [], isError: true }), { result: { isError: true } }],
    [
      "failed",
      { type: "end", outcome: "fault", payload: payload('{"code":-5,"message":"no"}') },
      { error: { code: -5 } },
    ],
    ["failed", { type: "error", error: new GatewayError("PROVIDER_UNREACHABLE") }, { error: { code: -32603 } }],
  ] as const)("says %s of a run that ended so", async (status, event, more) => {
    await using rig = await rigWith();
    const { run, task } = await rig.made();
    run.write(event);
    expect(await rig.get(task.taskId)).toMatchObject({ status, ...more });
  });

  test("gives the result without the name that the task has at its server", async () => {
    await using rig = await rigWith();
    const { run, task } = await rig.made();
    run.write(endWith({ content: [], _meta: { [`${META}related-task`]: { taskId: "theirs" }, mine: 1 } }));
    expect((await rig.get(task.taskId)).result).toMatchObject({ _meta: { mine: 1, ...INFO } });
    expect(JSON.stringify(await rig.get(task.taskId))).not.toContain("theirs");
  });

  test("finds nothing once the time of the task is over", async () => {
    await using rig = await rigWith();
    const { task, run } = await rig.made();
    rig.time.advance(60_000);
    const answer = await rig.send(modern("tasks/get", { taskId: task.taskId }, WITH));
    expect([answer.status, answer.json()]).toMatchObject([200, { error: { code: -32602 } }]);
    expect(run.cancelled).toBeDefined();
  });
});

describe("tasks/update", () => {
  test("answers one question after the other; keys that nobody asks for are not looked at", async () => {
    await using rig = await rigWith();
    const { run, task } = await rig.made();
    run.write({ type: "ask", asks: [ask("a"), ask("b")] });
    const update = (inputResponses: unknown) =>
      rig.send(modern("tasks/update", { taskId: task.taskId, inputResponses }, WITH));
    const acknowledged = { result: { resultType: "complete", _meta: INFO } };
    expect((await update({ b: { action: "accept" }, other: {} })).json()).toMatchObject(acknowledged);
    expect(Object.keys((await update({})).json<{ result: object }>().result).sort()).toEqual(["_meta", "resultType"]);
    const now = await rig.get(task.taskId);
    expect([now.status, Object.keys(now.inputRequests as object)]).toEqual(["input_required", ["a"]]);
    await update({ a: { action: "decline" } });
    expect((await rig.get(task.taskId)).status).toBe("working");
    expect(run.replies).toMatchObject([{ answers: [{ key: "b" }] }, { answers: [{ key: "a", outcome: "result" }] }]);
    run.write(endWith({ content: [] }));
    expect((await update({ a: {} })).json()).toMatchObject(acknowledged);
  });

  test.each([[undefined], [null], [[]], ["x"], [7], [{ a: 1 }], [{ a: null }]])(
    "with %j for answers is refused, and changes nothing",
    async (inputResponses) => {
      await using rig = await rigWith();
      const { run, task } = await rig.made();
      run.write({ type: "ask", asks: [ask("a")] });
      const answer = await rig.send(modern("tasks/update", { taskId: task.taskId, inputResponses }, WITH));
      expect(answer.json()).toMatchObject({ error: { code: -32602 } });
      expect([run.replies, (await rig.get(task.taskId)).status]).toEqual([[], "input_required"]);
    },
  );

  test("is not waited for where the client cannot be asked", async () => {
    await using rig = await rigWith();
    const { run, task } = await rig.made();
    run.write({ type: "ask", asks: [ask("s", "sample"), ask("v", "raw")] });
    await until(() => run.replies.length === 2);
    expect(run.replies).toMatchObject([{ answers: [{ key: "s", outcome: "fault" }] }, { answers: [{ key: "v" }] }]);
    expect((await rig.get(task.taskId)).status).toBe("working");
  });
});

describe("tasks/cancel", () => {
  test("is acknowledged, also when the task is over; what is cancelled stays so", async () => {
    await using rig = await rigWith();
    const { run, task } = await rig.made();
    for (let round = 0; round < 2; round++) {
      const { result } = (await rig.send(modern("tasks/cancel", { taskId: task.taskId }, WITH))).json();
      expect(result).toEqual({ resultType: "complete", _meta: INFO });
    }
    expect(run.cancelled).toBe("the client cancelled the task");
    const now = await rig.get(task.taskId);
    expect([now.status, "result" in now, "error" in now]).toEqual(["cancelled", false, false]);
  });
});

describe("a task", () => {
  test.each(["tasks/get", "tasks/update", "tasks/cancel"])("of somebody else does not exist for %s", async (method) => {
    await using rig = await rigWith();
    const task = rig.foreignTask();
    const answer = await rig.send(modern(method, { taskId: task.id, inputResponses: {} }, WITH));
    expect([answer.status, answer.json()]).toMatchObject([200, { error: { code: -32602 } }]);
    expect(task.status).toBe("working");
  });

  test("cannot be spoken of without the extension, nor under another name in the header", async () => {
    await using rig = await rigWith();
    const { taskId } = (await rig.made()).task;
    const bare = await rig.send(modern("tasks/get", { taskId }));
    const required = { requiredCapabilities: { extensions: { [`${META}tasks`]: {} } } };
    expect([bare.status, bare.json()]).toMatchObject([400, { error: { code: -32021, data: required } }]);
    const other = await rig.send(modern("tasks/get", { taskId }, { ...WITH, headers: { "mcp-name": "other" } }));
    expect([other.status, other.json()]).toMatchObject([400, { error: { code: -32020 } }]);
    const nameless = await rig.send(modern("tasks/get", { taskId: 7 }, { ...WITH, headers: { "mcp-name": "7" } }));
    expect(nameless.json()).toMatchObject({ error: { code: -32602 } });
  });
});

describe("server/discover", () => {
  test.each([
    ["a server declares it", `{"tools":{},"extensions":{"${META}tasks":{}}}`, true],
    ["a server has the tasks of 2025", '{"tools":{},"tasks":{"list":{},"requests":{"tools":{"call":{}}}}}', true],
    ["no tool can become a task", '{"tools":{},"tasks":{"list":{}}}', false],
    ["a server says it twice", `{"tools":{},"extensions":{"${META}tasks":{},"${META}tasks":{}}}`, false],
  ])("when %s: the extension is there, or not", async (_when, capabilities, isThere) => {
    await using rig = await mcpRig({ view: new FakeView(1, [okProvider("one", capabilities), okProvider("two")], []) });
    const { result } = (await rig.send(modern("server/discover"))).json<{ result: { capabilities: object } }>();
    expect(result.capabilities).toEqual({
      tools: { listChanged: true },
      ...(isThere && { extensions: { [`${META}tasks`]: {} } }),
    });
  });

  test("has the extension when the operator lets slow tools become tasks", async () => {
    await using rig = await mcpRig({ view: taskView("slow") });
    expect((await rig.send(modern("server/discover"))).text).toContain(`"extensions":{"${META}tasks":{}}`);
    await using plain = await mcpRig({
      view: new FakeView(
        2,
        [okProvider("one")],
        [{ kind: "tool", name: "t", definition: '{"name":"t","execution":{"taskSupport":"optional"}}' }],
      ),
    });
    expect((await plain.send(modern("server/discover"))).text).not.toContain("extensions");
  });
});

describe("subscriptions/listen", () => {
  test("tells of the caller's own tasks as they change, whole, and of no others", async () => {
    await using rig = await rigWith();
    const { run, task } = await rig.made();
    const foreign = rig.foreignTask();
    const taskIds = [task.taskId, foreign.id, "nope", task.taskId];
    const stream = await rig.open(modern("subscriptions/listen", { notifications: { taskIds } }, { ...WITH, id: 9 }));
    const tag = { [`${META}subscriptionId`]: 9 };
    expect(await stream.message(0)).toMatchObject({
      method: "notifications/subscriptions/acknowledged",
      params: { notifications: { taskIds: [task.taskId] }, _meta: tag },
    });
    run.write({ type: "ask", asks: [ask("a")] });
    foreign.cancel("");
    run.write(endWith({ content: [] }));
    expect(await stream.message(1)).toMatchObject({
      method: "notifications/tasks",
      params: { taskId: task.taskId, status: "input_required", inputRequests: { a: {} }, _meta: tag },
    });
    const { resultType: _, _meta: __, ...now } = await rig.get(task.taskId);
    expect((await stream.message(2)).params).toEqual({ ...now, _meta: tag });
    expect(stream.events.filter(({ data }) => data !== "")).toHaveLength(3);
    stream.close();
  });

  test("tells a client that is behind how a task is now, not how it was", async () => {
    await using rig = await rigWith();
    const { run, task } = await rig.made();
    const listen = { notifications: { taskIds: [task.taskId] } };
    const stream = await rig.open(modern("subscriptions/listen", listen, WITH));
    await stream.message(0);
    stream.pause();
    for (let at = 0; at < 50; at++) {
      run.write({ type: "status", state: "working", message: `${at} ${"x".repeat(1_000_000)}` });
      await new Promise((resolve) => setImmediate(resolve));
    }
    run.write(endWith({ content: [] }));
    stream.resume();
    await stream.until(() => stream.events.at(-1)?.data.includes('"completed"') === true);
    expect(stream.events.length).toBeLessThan(51);
    stream.close();
  });

  test("hears of a thousand tasks, not of one more, and lets go of them when it ends", async () => {
    await using rig = await rigWith();
    const tasks = Array.from({ length: 1000 }, () => rig.foreignTask({ id: "local" }));
    const taskIds = tasks.map(({ id }) => id);
    const listen = (ids: unknown) => modern("subscriptions/listen", { notifications: { taskIds: ids } }, WITH);
    for (const wrong of [[...taskIds, "more"], "x", [1], { a: 1 }]) {
      expect((await rig.send(listen(wrong))).json()).toMatchObject({ error: { code: -32602 } });
    }
    for (let round = 0; round < 70; round++) {
      const stream = await rig.open(listen(taskIds));
      expect(await stream.message(0)).toHaveProperty("params.notifications.taskIds.length", 1000);
      stream.close();
      await until(() => rig.connections() === 0);
    }
  });
});
