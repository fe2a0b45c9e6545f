import { describe, expect, test } from "vitest";
import { FakeView, okProvider } from "../../../tests/kit/fake-catalog.ts";
import { call, endWith, mcpRig, until } from "../../../tests/kit/mcp-rig.ts";
import { META } from "../../../tests/kit/modern-client.ts";
import { ask } from "../../../tests/kit/round-rig.ts";
import { taskRig, taskView } from "../../../tests/kit/task-rig.ts";
import { GatewayError, payload } from "../../contract/index.ts";

const CAN = { elicitation: {} };
const RELATED = `${META}related-task`;

type Task = { taskId: string; status: string; [key: string]: unknown };

async function rigWith(outlasts: "told" | "slow" | "own" = "told", capabilities: object = CAN) {
  const rig = await taskRig(outlasts);
  const headers = await rig.initialize("2025-11-25", capabilities);
  const request = (id: unknown, method: string, params: object = {}) => ({
    headers,
    body: JSON.stringify({ jsonrpc: "2.0", id, method, params }),
  });
  const speak = async <T = Task>(method: string, params: object = {}) =>
    (await rig.send(request(`${method} ${Math.random()}`, method, params))).json<{ result: T }>().result;
  async function made(task: object = { ttl: 60_000 }, more: object = {}) {
    const answer = rig.send({ headers, body: call(1, { x: 1 }, { task, ...more }) });
    const run = await rig.nextRun();
    return { run, task: (await answer).json<{ result: { task: Task } }>().result.task };
  }
  /** A tasks/result that can be asked. */
  const result = (taskId: string, id: unknown = 5) => rig.open(request(id, "tasks/result", { taskId }));
  const answer = (id: unknown, body: object = { result: { action: "accept" } }) =>
    rig.send({ headers, body: JSON.stringify({ jsonrpc: "2.0", id, ...body }) });
  return { ...rig, headers, request, speak, made, result, answer };
}

describe("tools/call with a task", () => {
  test.each(["told", "slow"] as const)("is answered with one at once where calls are %s", async (outlasts) => {
    await using rig = await rigWith(outlasts);
    const { run, task } = await rig.made();
    expect(task).toEqual({
      taskId: run.id,
      status: "working",
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      lastUpdatedAt: task.createdAt,
      ttl: 60_000,
      pollInterval: 1000,
    });
    expect(run.order).toMatchObject({ life: "detached", mayDefer: true });
    expect(run.order.input.value()).toEqual({ name: "echo", arguments: { x: 1 } });
    expect([run.extendedTo, run.isRead]).toEqual([60_000, true]);
  });

  test.each([
    [{}, 3_600_000],
    [{ ttl: null }, 86_400_000],
    [{ ttl: 1e300 }, 86_400_000],
    [{ ttl: 0 }, 1000],
  ])("that wants %j is kept for %i ms", async (wish, ttl) => {
    await using rig = await rigWith();
    expect((await rig.made(wish)).task.ttl).toBe(ttl);
  });

  test.each([[null], [7], ["x"], [[]], [{ ttl: "1" }], [{ ttl: -1 }], [{ ttl: {} }]])(
    "that is %j is refused",
    async (task) => {
      await using rig = await rigWith();
      const answer = await rig.send({ headers: rig.headers, body: call(1, {}, { task }) });
      expect(answer.json()).toMatchObject({ error: { code: -32602 } });
      expect(rig.runs.started).toEqual([]);
    },
  );

  test("is refused where a rule reads its arguments and these are too long to be kept", async () => {
    await using rig = await rigWith();
    rig.catalog.tells = (_catalog, _principal, { args }) => args !== undefined;
    const long = call(1, { x: "x".repeat(20_000) }, { task: {} });
    const answer = await rig.send({ headers: rig.headers, body: long });
    expect(answer.json()).toMatchObject({ error: { code: -32602, message: expect.stringContaining("too long") } });
    expect(rig.runs.started).toEqual([]);
    expect((await rig.made()).task.status).toBe("working");
  });

  test("is relayed as it came where the server has tasks of its own, and where nobody has any", async () => {
    for (const view of [taskView("own"), undefined]) {
      await using rig = await mcpRig(view ? { view } : {});
      const headers = await rig.initialize();
      rig.runs.onStart = (run) => run.write(endWith({ task: { taskId: run.id } }));
      await rig.send({ headers, body: call(1, {}, { task: { ttl: 1 } }) });
      expect(rig.runs.last.order.input.at(["task"])).toBe('{"ttl":1}');
      expect([rig.runs.last.order.life, rig.tasks.size]).toEqual(["resumable", 0]);
    }
  });

  test("makes none in a revision that has none, and a call without one is a call", async () => {
    await using rig = await rigWith();
    rig.runs.onStart = (run) => run.write(endWith({ content: [] }));
    const older = await rig.initialize("2025-06-18");
    expect((await rig.send({ headers: older, body: call(1, {}, { task: {} }) })).json().result).toEqual({
      content: [],
    });
    expect((await rig.send({ headers: rig.headers, body: call(1) })).json().result).toEqual({ content: [] });
    expect([rig.tasks.size, rig.runs.last.order.mayDefer]).toEqual([0, undefined]);
  });

  test("is refused when the caller has as many tasks as it may", async () => {
    await using rig = await rigWith();
    for (let at = 0; at < 1000; at++) rig.foreignTask({ id: "local" });
    const answer = await rig.send({ headers: rig.headers, body: call(1, {}, { task: {} }) });
    expect(answer.json()).toMatchObject({ error: { code: -32603, data: { code: "OVERLOADED" } } });
    expect(rig.runs.started).toEqual([]);
  });

  test("has a task also when the call ends at once", async () => {
    await using rig = await rigWith();
    rig.runs.onStart = (run) => run.write(endWith({ content: [] }));
    const { task } = await rig.made();
    expect(task.status).toBe("working");
    expect((await rig.speak("tasks/get", { taskId: task.taskId })).status).toBe("completed");
    expect(await rig.speak("tasks/result", { taskId: task.taskId })).toEqual({
      content: [],
      _meta: { [RELATED]: { taskId: task.taskId } },
    });
  });

  test("outlives its session, and is heard of in another one of the same caller", async () => {
    await using rig = await rigWith();
    const { run, task } = await rig.made();
    await rig.send({ method: "DELETE", headers: rig.headers });
    expect(run.cancelled).toBeUndefined();
    const headers = await rig.initialize();
    const body = rig.request(1, "tasks/get", { taskId: task.taskId }).body;
    expect((await rig.send({ headers, body })).json().result).toMatchObject({ status: "working" });
  });
});

describe("a kept task", () => {
  test.each([
    ["completed", endWith({ content: [], isError: false })],
    ["failed", endWith({ content: [], isError: true })],
    ["failed", { type: "end", outcome: "fault", payload: payload('{"code":-5,"message":"no"}') }],
    ["failed", { type: "error", error: new GatewayError("PROVIDER_UNREACHABLE") }],
    ["cancelled", { type: "error", error: new GatewayError("CANCELLED") }],
  ] as const)("is %s when its call ends so", async (status, event) => {
    await using rig = await rigWith();
    const { run, task } = await rig.made();
    run.write(event);
    expect((await rig.speak("tasks/get", { taskId: task.taskId })).status).toBe(status);
  });

  test("is cancelled once; after that, or when it is over, that is an error", async () => {
    await using rig = await rigWith();
    const { run, task } = await rig.made();
    expect(await rig.speak("tasks/cancel", { taskId: task.taskId })).toMatchObject({ status: "cancelled" });
    expect(run.cancelled).toBe("the client cancelled the task");
    for (const method of ["tasks/cancel", "tasks/result"]) {
      const answer = await rig.send(rig.request(2, method, { taskId: task.taskId }));
      expect(answer.json()).toMatchObject({ error: { code: -32602 } });
    }
    expect((await rig.speak("tasks/get", { taskId: task.taskId })).status).toBe("cancelled");
  });

  test.each(["tasks/get", "tasks/result", "tasks/cancel"])("of somebody else does not exist for %s", async (method) => {
    await using rig = await rigWith();
    const task = rig.foreignTask();
    const answer = await rig.send(rig.request(2, method, { taskId: task.id }));
    expect(answer.json()).toMatchObject({ error: { code: -32602 } });
    expect([task.status, await rig.speak("tasks/list")]).toEqual(["working", { tasks: [] }]);
  });

  test("is listed with those that servers run", async () => {
    await using rig = await rigWith();
    const record = { id: "theirs", principal: { id: "local" }, expiresAt: 1e9 };
    rig.runs.tasks.push({ ...record, target: { provider: "files", kind: "tool", name: "t" } });
    const { task } = await rig.made();
    rig.runs.onStart = (run) => run.write(endWith({ taskId: "theirs" }));
    const { tasks } = await rig.speak<{ tasks: Task[] }>("tasks/list");
    expect(tasks).toEqual([task, { taskId: "theirs" }]);
  });

  test.each([
    ["a member that nobody knows", { x: "x".repeat(100_000) }],
    ["its message", { statusMessage: "x".repeat(100_000) }],
    ["very many members", Object.fromEntries(Array.from({ length: 19_000 }, (_, number) => [`member${number}`, 1]))],
  ])("of a server is listed without %s where that is long", async (_name, more) => {
    await using rig = await rigWith();
    const target = { provider: "files", kind: "tool", name: "t" } as const;
    for (let number = 0; number < 50; number++)
      rig.runs.tasks.push({ id: `t${number}`, principal: { id: "local" }, expiresAt: 1e9, target });
    const facts = { status: "working", ttl: 60_000, createdAt: "2026-01-01T00:00:00Z" };
    rig.runs.onStart = (run) => run.write(endWith({ taskId: run.order.resumes, ...more, ...facts }));
    const { tasks } = await rig.speak<{ tasks: Task[] }>("tasks/list");
    expect(tasks).toHaveLength(50);
    expect(tasks[7]).toEqual({ taskId: tasks[7]?.taskId, ...facts });
  });

  test("of a server that answers too much that is ambiguous is left out of the list", async () => {
    await using rig = await rigWith();
    const target = { provider: "files", kind: "tool", name: "t" } as const;
    rig.runs.tasks.push({ id: "t", principal: { id: "local" }, expiresAt: 1e9, target });
    const text = `{"taskId":"t","taskId":"u","x":"${"x".repeat(100_000)}"}`;
    rig.runs.onStart = (run) => run.write({ type: "end", outcome: "result", payload: payload(text) });
    expect(await rig.speak("tasks/list")).toEqual({ tasks: [] });
  });

  test("is told of on the session's stream: the last of what was not heard, and progress under the client's token", async () => {
    await using rig = await rigWith();
    const { run, task } = await rig.made({}, { _meta: { progressToken: "p" } });
    run.write({ type: "status", state: "working", message: "one" });
    run.write({ type: "status", state: "working", message: "two", retryMs: 200 });
    const stream = await rig.open({ method: "GET", headers: rig.headers });
    expect(await stream.message(0)).toMatchObject({
      method: "notifications/tasks/status",
      params: { taskId: task.taskId, status: "working", statusMessage: "two", pollInterval: 200 },
    });
    run.write({ type: "progress", payload: payload('{"progress":1,"progressToken":"theirs"}') });
    run.write({ type: "log", payload: payload('{"level":"info","data":1}') });
    const related = { [RELATED]: { taskId: task.taskId } };
    expect(await stream.message(1)).toMatchObject({ params: { progress: 1, progressToken: "p", _meta: related } });
    expect(await stream.message(2)).toMatchObject({ method: "notifications/message", params: { _meta: related } });
    run.write(endWith({ content: [], isError: true }));
    expect(await stream.message(3)).toMatchObject({ params: { taskId: task.taskId, status: "failed" } });
    stream.close();
  });
});

describe("tasks/result of a kept task", () => {
  test("waits for the end, which names the task", async () => {
    await using rig = await rigWith();
    const { run, task } = await rig.made();
    const waiting = rig.send(rig.request(5, "tasks/result", { taskId: task.taskId }));
    await until(
      () => rig.sessions.find(rig.headers["mcp-session-id"] ?? "", { id: "local" })?.runningCall("5") !== undefined,
    );
    run.write(endWith({ content: [{ type: "text", text: "hi" }] }));
    const related = { [RELATED]: { taskId: task.taskId } };
    expect((await waiting).json()).toEqual({
      jsonrpc: "2.0",
      id: 5,
      result: { content: [{ type: "text", text: "hi" }], _meta: related },
    });
  });

  test.each([
    [
      "an error of the server",
      { type: "end", outcome: "fault", payload: payload('{"code":-5,"message":"no"}') },
      { error: { code: -5 } },
    ],
    [
      "an error of ours",
      { type: "error", error: new GatewayError("PROVIDER_UNREACHABLE") },
      { result: { isError: true } },
    ],
  ] as const)("gives %s as the call would have", async (_what, event, expected) => {
    await using rig = await rigWith();
    const { run, task } = await rig.made();
    run.write(event);
    const answer = await rig.send(rig.request(5, "tasks/result", { taskId: task.taskId }));
    expect(answer.json()).toMatchObject(expected);
  });

  test("asks each question once on its stream, however many wait, and passes the answer on", async () => {
    await using rig = await rigWith();
    const { run, task } = await rig.made();
    run.write({ type: "ask", asks: [ask("a")] });
    for (let round = 0; round < 10; round++) {
      expect((await rig.speak("tasks/get", { taskId: task.taskId })).status).toBe("input_required");
    }
    const stream = await rig.result(task.taskId);
    const question = await stream.message(0);
    expect(question).toMatchObject({
      method: "elicitation/create",
      params: { message: "a", _meta: { [RELATED]: { taskId: task.taskId } } },
    });
    const second = rig.send(rig.request(6, "tasks/result", { taskId: task.taskId }));
    run.write({ type: "ask", asks: [ask("b")] });
    const next = await stream.message(1);
    expect(next).toMatchObject({ params: { message: "b" } });
    await rig.answer(question.id);
    await rig.answer(question.id);
    await rig.answer(next.id, { error: { code: 1, message: "no" } });
    expect(run.replies).toMatchObject([
      { answers: [{ key: "a", outcome: "result" }] },
      { answers: [{ key: "b", outcome: "fault" }] },
    ]);
    run.write(endWith({ content: [] }));
    expect(await stream.message(2)).toMatchObject({ id: 5, result: { content: [] } });
    expect((await second).json()).toMatchObject({ id: 6, result: { content: [] } });
    expect(stream.events.filter(({ data }) => data !== "")).toHaveLength(3);
  });

  test("asks again under the same id where the stream was lost, and takes the answer to either", async () => {
    await using rig = await rigWith();
    const { run, task } = await rig.made();
    run.write({ type: "ask", asks: [ask("a")] });
    const lost = await rig.result(task.taskId);
    const { id } = await lost.message(0);
    lost.close();
    await until(() => rig.connections() === 0);
    const stream = await rig.result(task.taskId, 6);
    expect(await stream.message(0)).toMatchObject({ id, params: { message: "a" } });
    await rig.answer(id);
    expect(run.replies).toHaveLength(1);
    run.write(endWith({ content: [] }));
    expect(await stream.message(1)).toMatchObject({ id: 6 });
  });

  test("goes to another stream that waits when the one that was asked is lost", async () => {
    await using rig = await rigWith();
    const { run, task } = await rig.made();
    run.write({ type: "ask", asks: [ask("a")] });
    const lost = await rig.result(task.taskId);
    const { id } = await lost.message(0);
    const other = rig.open({ ...rig.request(6, "tasks/result", { taskId: task.taskId }) });
    await until(() => rig.connections() === 2);
    lost.close();
    expect(await (await other).message(0)).toMatchObject({ id });
    await rig.speak("tasks/cancel", { taskId: task.taskId });
  });

  test("says so when the server does without an answer", async () => {
    await using rig = await rigWith();
    const { run, task } = await rig.made();
    run.write({ type: "ask", asks: [ask("a")] });
    const stream = await rig.result(task.taskId);
    const { id } = await stream.message(0);
    run.write({ type: "notice", method: "notifications/cancelled", payload: payload("{}"), key: "a" });
    expect(await stream.message(1)).toMatchObject({ method: "notifications/cancelled", params: { requestId: id } });
    run.write(endWith({ content: [] }));
    expect(await stream.message(2)).toMatchObject({ id: 5 });
    const session = rig.sessions.find(rig.headers["mcp-session-id"] ?? "", { id: "local" });
    expect(session?.asks?.size).toBe(0);
  });

  test("can be given up without harm to the task", async () => {
    await using rig = await rigWith();
    const { run, task } = await rig.made();
    const waiting = rig.send(rig.request(5, "tasks/result", { taskId: task.taskId }));
    const session = rig.sessions.find(rig.headers["mcp-session-id"] ?? "", { id: "local" });
    await until(() => session?.runningCall("5") !== undefined);
    const again = await rig.send(rig.request(5, "tasks/result", { taskId: task.taskId }));
    expect(again.status).toBe(400);
    const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 5 } };
    await rig.send({ headers: rig.headers, body: JSON.stringify(cancel) });
    expect((await waiting).status).toBe(202);
    expect([run.cancelled, session?.runningCall("5")]).toEqual([undefined, undefined]);
  });

  test("forgets a client that leaves before anything was said", async () => {
    await using rig = await rigWith();
    const { run, task } = await rig.made();
    const session = rig.sessions.find(rig.headers["mcp-session-id"] ?? "", { id: "local" });
    const gone = new AbortController();
    const sent = { ...rig.request(5, "tasks/result", { taskId: task.taskId }), signal: gone.signal };
    const lost = rig.send(sent).catch(() => undefined);
    await until(() => session?.runningCall("5") !== undefined);
    gone.abort();
    await lost;
    await until(() => session?.runningCall("5") === undefined);
    expect(run.cancelled).toBeUndefined();
  });

  test("is not asked what its client cannot be asked", async () => {
    await using rig = await rigWith("told", {});
    const { run, task } = await rig.made();
    run.write({ type: "ask", asks: [ask("a")] });
    await until(() => run.replies.length === 1);
    expect(run.replies).toMatchObject([{ answers: [{ key: "a", outcome: "fault" }] }]);
    expect((await rig.speak("tasks/get", { taskId: task.taskId })).status).toBe("working");
  });
});

describe("initialize", () => {
  test.each([
    ["the tasks of 2025", '{"tools":{},"tasks":{"requests":{"tools":{"call":{}},"x":{}}}}', { x: {} }],
    ["the extension of 2026", `{"tools":{},"extensions":{"${META}tasks":{}}}`, {}],
  ])("declares all of tasks where a server declares %s", async (_what, capabilities, more) => {
    await using rig = await mcpRig({ view: new FakeView(1, [okProvider("one", capabilities)], []) });
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } };
    const answer = await rig.send({ body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }) });
    expect(answer.json<{ result: { capabilities: object } }>().result.capabilities).toEqual({
      tools: { listChanged: true },
      tasks: { list: {}, cancel: {}, requests: { tools: { call: {} }, ...more } },
    });
  });

  test.each(["told", "slow"] as const)("declares tasks where calls of some tool are %s", async (outlasts) => {
    await using rig = await mcpRig({ view: taskView(outlasts) });
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } };
    const answer = await rig.send({ body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }) });
    expect(answer.text).toContain('"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}');
  });
});
