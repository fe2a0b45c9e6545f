import { describe, expect, test, vi } from "vitest";
import { FakeOut, fakeSession, toolCall } from "../../../../tests/kit/fake-host.ts";
import { payload } from "../../../contract/index.ts";
import type { Exchange, Handler } from "../fixtures/http-server.ts";
import { fault } from "../fixtures/modern-http.ts";
import { answerResult, legacyTasks, RELATED, TASK_ID, type TaskRig } from "../fixtures/task-server.ts";

const _meta = { [RELATED]: { taskId: TASK_ID } };
const QUESTION = { id: 7, method: "elicitation/create", params: { message: "sure?", _meta } };
const RESULT = { content: [{ type: "text", text: "done" }], _meta };
const unknownTask: Handler = (exchange) => fault(exchange, { code: -32602, message: `no task ${TASK_ID}` });
const unavailable: Handler = (exchange) => exchange.raw("", 503, {});

function accept(rig: TaskRig, key: string): void {
  const body = payload('{"action":"accept"}');
  rig.reply({ type: "answer", answers: [{ key, outcome: "result", payload: body }] });
}

const say = (exchange: Exchange | undefined, message: object) => exchange?.event({ jsonrpc: "2.0", ...message });
const answersOf = ({ server }: TaskRig) =>
  server.seen.filter(({ rpc, method }) => method === "POST" && rpc.method === undefined).map(({ rpc }) => rpc);

/** Starts the call, and waits until the server has made its task. */
async function started(rig: TaskRig): Promise<TaskRig> {
  rig.start();
  await vi.waitFor(() => expect(rig.of("status")).toHaveLength(1));
  return rig;
}

async function resultOpened(rig: TaskRig, count = 1): Promise<Exchange | undefined> {
  await rig.pass(() => expect(rig.results).toHaveLength(count));
  return rig.results.at(-1);
}

/** Lets the task end, and answers its `tasks/result`. */
async function finish(rig: TaskRig, status: string, body: Parameters<typeof answerResult>[1]): Promise<void> {
  rig.task.status = status;
  answerResult(await resultOpened(rig), body);
  await rig.done;
}

describe("a tool of 2025 that runs only as a task, called from 2026-07-28", () => {
  test("becomes a task of an hour that is seen through, and ends with the plain result", async () => {
    await using rig = await legacyTasks();
    await started(rig);
    expect(rig.of("status")).toEqual([{ type: "status", state: "working", keepMs: 60_000, retryMs: 1000 }]);
    expect(rig.seen("tools/call")).toMatchObject([{ name: "slow", task: { ttl: 3_600_000 } }]);
    await rig.polled(2);
    await finish(rig, "completed", { result: RESULT });
    expect(rig.out.result).toEqual({ content: RESULT.content });
    expect(rig.seen("tasks/result")).toEqual([{ taskId: TASK_ID }]);
    expect(rig.seen("tasks/cancel")).toEqual([]);
  });

  test("lives no longer than the call where the client knows no tasks, and only its result is heard of", async () => {
    await using rig = await legacyTasks();
    rig.task.statusMessage = "at it";
    rig.start({ mayDefer: false, deadline: rig.time.now() + 12_345 });
    await vi.waitFor(() => expect(rig.seen("tools/call")).toMatchObject([{ task: { ttl: 12_345 } }]));
    await rig.polled(1);
    rig.task.statusMessage = "almost";
    await finish(rig, "completed", { result: RESULT });
    expect(rig.out.events).toMatchObject([{ type: "end", outcome: "result" }]);
  });

  test("leaves calls of other tools as they are", async () => {
    await using rig = await legacyTasks();
    await rig.start({}, "maybe").done;
    expect(rig.out.result).toMatchObject({ content: [{ text: "at once" }] });
    expect(rig.seen("tools/call")[0]).not.toHaveProperty("task");
  });

  test("waits for the list of tools on a session that has none yet", async () => {
    let list: Exchange | undefined;
    await using rig = await legacyTasks({});
    rig.server.on["tools/list"] = (exchange) => {
      list = exchange;
    };
    rig.start();
    await vi.waitFor(() => expect(list).toBeDefined());
    expect(rig.seen("tools/call")).toEqual([]);
    list?.result({ tools: [{ name: "slow", execution: { taskSupport: "required" } }] });
    await vi.waitFor(() => expect(rig.seen("tools/call")).toMatchObject([{ task: {} }]));
  });

  test("ends with what the server answers when it makes no task after all", async () => {
    await using rig = await legacyTasks({ "tools/call": (exchange) => exchange.result({ content: [] }) });
    await rig.start().done;
    expect(rig.out.result).toEqual({ content: [] });
  });

  test("ends with the result of a task that failed with one, and with the error of one that did not", async () => {
    await using tool = await legacyTasks();
    await finish(await started(tool), "failed", { result: { ...RESULT, isError: true } });
    expect(tool.out.ends).toMatchObject([{ outcome: "result" }]);
    expect(tool.out.result).toEqual({ content: RESULT.content, isError: true });
    await using protocol = await legacyTasks();
    await finish(await started(protocol), "failed", { error: { code: -32000, message: "broken" } });
    expect(protocol.out.ends).toMatchObject([{ outcome: "fault" }]);
    expect(protocol.out.result).toEqual({ code: -32000, message: "broken" });
  });

  test("asks in the call what comes on the stream of the result, and the answer names the task", async () => {
    await using rig = await legacyTasks();
    await started(rig);
    rig.task.status = "input_required";
    const result = await resultOpened(rig);
    say(result, QUESTION);
    await vi.waitFor(() => expect(rig.of("ask")).toHaveLength(1));
    expect(rig.of("ask")[0]?.asks).toMatchObject([{ key: "a1", kind: "elicit", method: "elicitation/create" }]);
    expect(rig.of("ask")[0]?.asks[0]?.input.value()).toEqual({ message: "sure?" });
    accept(rig, "a1");
    await vi.waitFor(() => expect(answersOf(rig)).toMatchObject([{ id: 7, result: { action: "accept", _meta } }]));
    say(result, { ...QUESTION, id: 8 });
    await vi.waitFor(() => expect(rig.of("ask")[1]?.asks[0]?.key).toBe("a2"));
    accept(rig, "a2");
    answerResult(result, { result: RESULT });
    await rig.done;
    expect(rig.out.result).toEqual({ content: RESULT.content });
    expect(rig.results).toHaveLength(1);
  });

  test("takes questions, logs and progress of the task from other streams, too", async () => {
    await using rig = await legacyTasks();
    rig.start({ input: { _meta: { progressToken: "theirs" } } });
    await vi.waitFor(() => expect(rig.of("status")).toHaveLength(1));
    const progressToken = Number(payload(JSON.stringify(rig.seen("tools/call")[0])).at(["_meta", "progressToken"]));
    const listener = rig.server.listeners.at(-1);
    say(listener, QUESTION);
    say(listener, { method: "notifications/message", params: { level: "info", data: 1, _meta } });
    say(listener, { method: "notifications/progress", params: { progressToken, progress: 1, _meta } });
    await vi.waitFor(() => expect(rig.out.events).toHaveLength(4));
    const [, ask, log, progress] = rig.out.events;
    expect([ask?.type, log?.type, progress?.type]).toEqual(["ask", "log", "progress"]);
    expect(rig.of("log")[0]?.payload.value()).toEqual({ level: "info", data: 1 });
    expect(rig.of("progress")[0]?.payload.value()).toEqual({ progressToken, progress: 1 });
  });

  test("says what the server says about it, once, and needs no poll for that when the server speaks by itself", async () => {
    await using rig = await legacyTasks();
    rig.task.statusMessage = "one";
    await started(rig);
    expect(rig.of("status")).toMatchObject([{ message: "one", keepMs: 60_000 }]);
    await rig.polled(2);
    rig.task.statusMessage = "two";
    await rig.pass(() => expect(rig.of("status")).toHaveLength(2));
    expect(rig.of("status")[1]).toEqual({ type: "status", state: "working", message: "two" });
    const notify = (params: object) =>
      say(rig.server.listeners.at(-1), {
        method: "notifications/tasks/status",
        params: { taskId: TASK_ID, ...params },
      });
    rig.task.statusMessage = "four"; // a poll that is under way may say so first
    notify({ status: "no such status", statusMessage: "three" });
    notify({ status: "working", statusMessage: "four" });
    notify({ status: "completed" });
    await vi.waitFor(() => expect(rig.results).toHaveLength(1));
    expect(rig.of("status").map(({ message }) => message)).toEqual(["one", "two", "four"]);
    expect(rig.setup.host.notices).toEqual([]);
  });

  test("is cancelled at the server, once, when nobody wants it any more", async () => {
    await using rig = await legacyTasks();
    await started(rig);
    const timers = rig.time.pending;
    rig.reply({ type: "cancel", reason: "enough" });
    rig.reply({ type: "cancel" });
    expect(await rig.done).toMatchObject({ code: "CANCELLED" });
    await vi.waitFor(() => expect(rig.seen("tasks/cancel")).toEqual([{ taskId: TASK_ID }]));
    await vi.waitFor(() => expect(rig.time.pending).toBe(timers - 1));
    expect(rig.server.count("notifications/cancelled")).toBe(0);
    expect(rig.out.ends).toEqual([]);
  });

  test("is cancelled as soon as it is known when the call was cancelled before", async () => {
    let call: Exchange | undefined;
    await using rig = await legacyTasks({
      "tools/call": (exchange) => {
        call = exchange;
      },
    });
    rig.start();
    await vi.waitFor(() => expect(call).toBeDefined());
    const timers = rig.time.pending;
    rig.reply({ type: "cancel" });
    call?.result({ task: { taskId: TASK_ID, status: "working" } });
    await vi.waitFor(() => expect(rig.seen("tasks/cancel")).toEqual([{ taskId: TASK_ID }]));
    expect(await rig.done).toMatchObject({ code: "CANCELLED" });
    await vi.waitFor(() => expect(rig.time.pending).toBe(timers));
  });

  test("is not waited for without end by a call that was cancelled before", async () => {
    let isClosed = false;
    await using rig = await legacyTasks({
      "tools/call": ({ response }) =>
        void response.on("close", () => {
          isClosed = true;
        }),
    });
    rig.start();
    await vi.waitFor(() => expect(rig.seen("tools/call")).toHaveLength(1));
    rig.reply({ type: "cancel" });
    rig.time.advance(10_000);
    await vi.waitFor(() => expect(isClosed).toBe(true));
  });

  test("ends cancelled when the server cancels it, also while a question is open", async () => {
    await using rig = await legacyTasks();
    await started(rig);
    rig.task.status = "cancelled";
    await rig.polled(1);
    expect(await rig.done).toMatchObject({ code: "CANCELLED", message: expect.stringContaining("server") });
    await using asking = await legacyTasks();
    await started(asking);
    asking.task.status = "input_required";
    const result = await resultOpened(asking);
    asking.task.status = "cancelled";
    answerResult(result, { error: { code: -32602, message: "no result" } });
    expect(await asking.done).toMatchObject({ code: "CANCELLED" });
    expect(asking.seen("tasks/cancel")).toEqual([]);
  });

  test("fails when the server has forgotten it, without the server's words", async () => {
    await using rig = await legacyTasks({ "tasks/get": unknownTask });
    await started(rig);
    await rig.polled(1);
    const message = "The server does not know its task any more.";
    expect(await rig.done).toMatchObject({ code: "PROVIDER_FAILED", message });
    expect(rig.seen("tasks/cancel")).toEqual([]);
  });

  test.each([
    ["an error", (exchange: Exchange) => fault(exchange, { code: -32603, message: "x" })],
    ["a status that is none", (exchange: Exchange) => exchange.result({ taskId: TASK_ID, status: "asleep" })],
    ["no status", (exchange: Exchange) => exchange.result({})],
  ])("is given up when the server answers %s for its status", async (_, answer) => {
    await using rig = await legacyTasks({ "tasks/get": answer });
    await started(rig);
    await rig.polled(1);
    expect(await rig.done).toMatchObject({ code: "PROVIDER_FAILED" });
    await vi.waitFor(() => expect(rig.seen("tasks/cancel")).toHaveLength(1));
  });

  test.each([
    ["no id", '{"task":{"status":"working"}}'],
    ["no status", '{"task":{"taskId":"t"}}'],
    ["no object", '{"task":[]}'],
    ["two ids", '{"task":{"taskId":"a","taskId":"b","status":"working"}}'],
  ])("fails when the server answers with a task that has %s", async (_, result) => {
    await using rig = await legacyTasks({
      "tools/call": (exchange) =>
        exchange.raw(`{"jsonrpc":"2.0","id":${exchange.message.id},"result":${result}}`, 200, {
          "content-type": "application/json",
        }),
    });
    expect(await rig.start().done).toMatchObject({ code: "PROVIDER_FAILED" });
  });

  test.each([
    ["that the gateway sees through", 2000, {}],
    ["that its caller asks about", 1_000_000, { isOwn: true }],
  ])(
    "fails when the server names the task at length: one %s",
    async (_, length, { isOwn = false }: { isOwn?: boolean }) => {
      const taskId = "t".repeat(length);
      await using rig = await legacyTasks({
        "tools/call": (exchange) => exchange.result({ task: { taskId, status: "working", ttl: 60_000 } }),
      });
      const session = fakeSession("a", { capabilities: { elicitation: {} } });
      const own = () => rig.setup.provider.run(toolCall("slow", {}, { session, input: { task: {} } }), new FakeOut());
      const error = isOwn ? await own().catch((cause: unknown) => cause) : await rig.start().done;
      expect(error).toMatchObject({ code: "PROVIDER_FAILED", message: expect.stringContaining("1024 characters") });
    },
  );

  test("survives a few failed polls, and not many", async () => {
    let fails = 4;
    await using rig = await legacyTasks();
    const normal = rig.server.on["tasks/get"] as Handler;
    rig.server.on["tasks/get"] = (exchange) => (fails-- > 0 ? unavailable(exchange) : normal(exchange));
    await started(rig);
    await rig.polled(6);
    fails = 5;
    await rig.polled(11);
    expect(await rig.done).toMatchObject({ code: "PROVIDER_FAILED", message: expect.stringContaining("503") });
  });

  test("opens the result again when its stream was lost", async () => {
    await using rig = await legacyTasks();
    await started(rig);
    rig.task.status = "input_required";
    (await resultOpened(rig))?.response.destroy();
    const second = await resultOpened(rig, 2);
    rig.server.on["tasks/result"] = unavailable;
    second?.response.destroy();
    await rig.pass(() => expect(rig.seen("tasks/result").length).toBeGreaterThan(3));
    rig.server.on["tasks/result"] = (exchange) => exchange.result(RESULT);
    await rig.pass(() => expect(rig.out.ends).toHaveLength(1));
    expect(rig.out.result).toEqual({ content: RESULT.content });
  });

  test("is given up when what comes on the stream of the result cannot be read", async () => {
    await using rig = await legacyTasks();
    await started(rig);
    rig.task.status = "input_required";
    const id = (await resultOpened(rig))?.message.id;
    rig.results[0]?.event(`{"jsonrpc":"2.0","id":${id},"result":{"a":1,"a":2}}`);
    expect(await rig.done).toMatchObject({ code: "PROVIDER_FAILED" });
    await vi.waitFor(() => expect(rig.seen("tasks/cancel")).toHaveLength(1));
  });

  test("leaves nobody waiting when the session is gone, or the server", async () => {
    await using rig = await legacyTasks({ "tasks/get": (exchange) => exchange.raw("", 404, {}) });
    await started(rig);
    await rig.polled(1);
    expect(await rig.done).toMatchObject({ code: "OUTCOME_UNKNOWN" });
    await using other = await legacyTasks();
    await started(other);
    await other.server.stop();
    const settled = vi.fn();
    void other.done.then(settled);
    await other.pass(() => expect(settled).toHaveBeenCalled());
    expect(await other.done).toMatchObject({ code: "OUTCOME_UNKNOWN" });
  });

  test("is seen through in a session that takes no more calls", async () => {
    const calls: Exchange[] = [];
    await using rig = await legacyTasks({
      initialize: (exchange) =>
        exchange.result({
          protocolVersion: "2025-11-25",
          capabilities: { tools: {}, tasks: { requests: { tools: { call: {} } } } },
          serverInfo: { name: "fixture", version: "1" },
        }),
      "tools/call": (exchange) => (exchange.tool === "slow" ? void calls.push(exchange) : exchange.raw("", 401, {})),
    });
    const session = fakeSession("b");
    rig.start({ session });
    await vi.waitFor(() => expect(calls).toHaveLength(1));
    const refused = rig.setup.provider.run({ ...toolCall("plain"), deadline: rig.call.deadline }, new FakeOut());
    await expect(refused).rejects.toMatchObject({ code: "PROVIDER_UNREACHABLE" });
    calls[0]?.result({ task: { taskId: TASK_ID, status: "working" } });
    await rig.polled(3);
    await finish(rig, "completed", { result: RESULT });
    expect(rig.out.result).toEqual({ content: RESULT.content });
  });

  test("ends with the session that carries it", async () => {
    await using rig = await legacyTasks();
    await started(rig);
    await rig.setup.provider.close();
    expect(await rig.done).toMatchObject({ code: "OUTCOME_UNKNOWN" });
    expect(rig.time.pending).toBe(0);
  });

  test("keeps its session though that has been idle for long and its client has left", async () => {
    await using rig = await legacyTasks({}, { idle: "20s" });
    await started(rig);
    const deleted = () =>
      rig.server.seen.filter(({ method, headers }) => method === "DELETE" && headers["mcp-session-id"] === "s2").length;
    await rig.polled(5, 20_000);
    if (rig.call.session) rig.setup.provider.release(rig.call.session);
    await rig.polled(10, 20_000);
    expect(deleted()).toBe(0);
    await finish(rig, "completed", { result: RESULT });
    await rig.pass(() => expect(deleted()).toBe(1));
  });

  test("refuses what the client has not declared, and says so when the task fails of it", async () => {
    await using rig = await legacyTasks();
    rig.start({ session: fakeSession("b", { capabilities: { roots: {} } }) });
    await vi.waitFor(() => expect(rig.of("status")).toHaveLength(1));
    rig.task.status = "input_required";
    const result = await resultOpened(rig);
    say(result, QUESTION);
    await vi.waitFor(() => expect(answersOf(rig)).toMatchObject([{ id: 7, error: { code: -32601 } }]));
    answerResult(result, { result: { ...RESULT, isError: true } });
    await rig.done;
    expect(rig.out.result).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { elicitation: { form: {} } } },
    });
  });
});
