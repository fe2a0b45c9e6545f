import { describe, expect, test, vi } from "vitest";
import { fakeSession } from "../../../../tests/kit/fake-host.ts";
import { decodeString, payload, textOf } from "../../../contract/index.ts";
import type { Handler } from "../fixtures/http-server.ts";
import { complete, envelopeOf, fault, META } from "../fixtures/modern-http.ts";
import { EXTENSION, modernTasks, TASK_ID, type TaskRig } from "../fixtures/task-server.ts";

const FORM = { method: "elicitation/create", params: { message: "sure?", requestedSchema: {}, mode: "form" } };
const SAMPLE = { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } };
const URL_QUESTION = {
  method: "elicitation/create",
  params: { mode: "url", message: "sign in", url: "https://a.b/c" },
};
const RESULT = { content: [{ type: "text", text: "done" }] };
/** A caller of the 2025 era. */
const OLD = { origin: { front: "test", protocol: "2025-11-25", requestId: "1" } };

function answer(rig: TaskRig, answers: Record<string, object>, outcome: "result" | "fault" = "result"): void {
  const texts = Object.entries(answers).map(([key, body]) => [key, textOf(JSON.stringify(body))] as const);
  rig.reply({ type: "answer", answers: texts.map(([key, text]) => ({ key, outcome, payload: payload(text) })) });
}

async function started(rig: TaskRig, parts: Parameters<TaskRig["start"]>[0] = {}, name = "slow"): Promise<TaskRig> {
  rig.start(parts, name);
  await vi.waitFor(() => expect(rig.of("status")).toHaveLength(1));
  return rig;
}

async function asked(rig: TaskRig, inputRequests: object): Promise<void> {
  const before = rig.of("ask").length;
  rig.task = { status: "input_required", inputRequests };
  await rig.pass(() => expect(rig.of("ask").length).toBeGreaterThan(before));
}

async function ended(rig: TaskRig, task: Record<string, unknown>): Promise<unknown> {
  rig.task = task;
  const settled = vi.fn();
  void rig.done.then(settled);
  await rig.pass(() => expect(settled).toHaveBeenCalled());
  return rig.done;
}

const capabilitiesOf = (params: Record<string, unknown> | undefined) =>
  envelopeOf({ params: params ?? {} })[`${META}clientCapabilities`];

describe("a task that a server of 2026-07-28 makes of a call", () => {
  test("is seen through for whoever can be sent away, under the server's id in Mcp-Name", async () => {
    await using rig = await modernTasks();
    rig.task.statusMessage = "at it";
    await started(rig);
    const first = { type: "status", state: "working", keepMs: 60_000, retryMs: 1000, message: "at it" };
    expect(rig.of("status")).toEqual([first]);
    await rig.polled(2);
    rig.task.statusMessage = "almost";
    await rig.pass(() => expect(rig.of("status")).toHaveLength(2));
    await ended(rig, { status: "completed", result: { ...RESULT, isError: true } });
    expect(rig.out.ends).toMatchObject([{ outcome: "result" }]);
    expect(rig.out.result).toEqual({ ...RESULT, isError: true });
    const polls = rig.server.seen.filter(({ rpc }) => rpc.method === "tasks/get");
    expect(polls[0]?.headers).toMatchObject({ "mcp-name": TASK_ID, "mcp-method": "tasks/get" });
  });

  test("is asked for only in calls that can wait for one, and only there and in words about it declared", async () => {
    await using rig = await modernTasks();
    await started(rig);
    await rig.polled(1);
    const declared = { extensions: { [EXTENSION]: {} } };
    expect(capabilitiesOf(rig.seen("tools/call")[0])).toEqual({ elicitation: { form: {} }, sampling: {}, ...declared });
    expect(capabilitiesOf(rig.seen("tasks/get")[0])).toMatchObject(declared);
    expect(capabilitiesOf(rig.seen("tools/list")[0])).not.toHaveProperty("extensions");
    await rig.setup.provider.run({ ...rig.call, id: "another", mayDefer: false }, rig.out).catch(() => undefined);
    expect(capabilitiesOf(rig.seen("tools/call")[1])).not.toHaveProperty("extensions");
  });

  test("is not asked for where the server does not know tasks", async () => {
    const discovered = complete({ supportedVersions: ["2026-07-28"], capabilities: { tools: {} } });
    await using rig = await modernTasks({
      "server/discover": (exchange) => exchange.result(discovered),
      "tools/call": (exchange) => exchange.result(complete(RESULT)),
    });
    await rig.start().done;
    expect(capabilitiesOf(rig.seen("tools/call")[0])).not.toHaveProperty("extensions");
  });

  test.each([
    ["2026-07-28", {}],
    ["the 2025 era", OLD],
  ])("is an error to callers of %s that did not ask for it", async (_, parts) => {
    await using rig = await modernTasks();
    expect(await rig.start({ mayDefer: false, ...parts }).done).toMatchObject({ code: "PROVIDER_FAILED" });
    expect(rig.out.events).toEqual([]);
  });

  test("ends for callers of the 2025 era as the call itself would", async () => {
    await using rig = await modernTasks();
    await started(rig, { ...OLD, input: { task: { ttl: 5 } } }, "numbers");
    expect(rig.seen("tools/call")[0]).not.toHaveProperty("task");
    await ended(rig, { status: "completed", result: complete({ structuredContent: [1], content: [] }) });
    expect(rig.out.result).toEqual({
      structuredContent: { result: [1] },
      content: [{ type: "text", text: "[1]" }],
    });
  });

  test.each([
    ["none, an hour", null, 3_600_000],
    ["zero, an hour", 0, 3_600_000],
    ["less than that, an hour", -5, 3_600_000],
    ["a year, a day", 31_536_000_000, 86_400_000],
  ])("is kept for as long as the server says; where that is %s", async (_, ttlMs, keepMs) => {
    await using rig = await modernTasks();
    rig.task.ttlMs = ttlMs;
    await started(rig);
    expect(rig.of("status")).toMatchObject([{ keepMs }]);
  });

  test("asks each question once however often it is polled, and gets the answers in one update", async () => {
    await using rig = await modernTasks();
    await started(rig);
    await asked(rig, { name: FORM, "b c": SAMPLE });
    await rig.polled(6);
    expect(rig.of("ask")).toHaveLength(1);
    const asks = rig.of("ask")[0]?.asks ?? [];
    expect(asks).toMatchObject([
      { key: "name", kind: "elicit", method: "elicitation/create" },
      { key: "a1", kind: "sample" },
    ]);
    expect(asks[0]?.input.value()).toEqual(FORM.params);
    answer(rig, { name: { action: "accept" } });
    answer(rig, { nobody: {} });
    await rig.polled(8);
    expect(rig.seen("tasks/update")).toEqual([]);
    answer(rig, { a1: { model: "m" } });
    await vi.waitFor(() => expect(rig.seen("tasks/update")).toHaveLength(1));
    expect(rig.seen("tasks/update")[0]).toMatchObject({
      taskId: TASK_ID,
      inputResponses: { name: { action: "accept" }, "b c": { model: "m" } },
    });
    await asked(rig, { name: FORM, more: FORM });
    expect(rig.of("ask")[1]?.asks.map(({ key }) => key)).toEqual(["more"]);
  });

  test("gets answers again that did not arrive", async () => {
    await using rig = await modernTasks({ "tasks/update": (exchange) => exchange.raw("", 503, {}) });
    await started(rig);
    await asked(rig, { q: FORM });
    answer(rig, { q: { action: "accept" } });
    await rig.pass(() => expect(rig.seen("tasks/update").length).toBeGreaterThan(1));
    rig.server.on["tasks/update"] = (exchange) => exchange.result(complete({}));
    const sent = rig.seen("tasks/update").length;
    await rig.pass(() => expect(rig.seen("tasks/update").length).toBeGreaterThan(sent));
    expect(rig.seen("tasks/update").at(-1)).toMatchObject({ inputResponses: { q: { action: "accept" } } });
    await ended(rig, { status: "completed", result: RESULT });
    expect(rig.out.result).toEqual(RESULT);
  });

  test("fails when the server does not take the answers", async () => {
    await using rig = await modernTasks({
      "tasks/update": (exchange) => fault(exchange, { code: -32602, message: "" }),
    });
    await started(rig);
    await asked(rig, { q: FORM });
    answer(rig, { q: { action: "accept" } });
    expect(await rig.done).toMatchObject({ code: "PROVIDER_FAILED", message: expect.stringContaining("-32602") });
    await vi.waitFor(() => expect(rig.seen("tasks/cancel")).toHaveLength(1));
  });

  test("is cancelled when it asks what the client has not declared, and the client is told", async () => {
    const session = fakeSession("b", { capabilities: { sampling: {} } });
    await using rig = await modernTasks();
    await started(rig, { session });
    await ended(rig, { status: "input_required", inputRequests: { q: FORM, s: SAMPLE } });
    expect(rig.out.result).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { elicitation: { form: {} } } },
    });
    await vi.waitFor(() => expect(rig.seen("tasks/cancel")).toHaveLength(1));
    await using older = await modernTasks();
    await started(older, { session, ...OLD });
    const error = await ended(older, { status: "input_required", inputRequests: { q: FORM } });
    expect(error).toMatchObject({ code: "PROVIDER_FAILED", message: expect.stringContaining("elicitation.form") });
    await vi.waitFor(() => expect(older.seen("tasks/cancel")).toHaveLength(1));
  });

  test("is cancelled when the client refuses to answer", async () => {
    await using rig = await modernTasks();
    await started(rig);
    await asked(rig, { q: SAMPLE });
    answer(rig, { q: { code: -1, message: "no" } }, "fault");
    const message = expect.stringContaining("sampling/createMessage");
    expect(await rig.done).toMatchObject({ code: "PROVIDER_FAILED", message });
    await vi.waitFor(() => expect(rig.seen("tasks/cancel")).toHaveLength(1));
  });

  test("tells callers of the 2025 era when an address has been visited, and callers of its own era nothing of it", async () => {
    const session = fakeSession("b", { capabilities: { elicitation: { url: {} } } });
    await using rig = await modernTasks();
    await started(rig, { session, ...OLD });
    await asked(rig, { q: URL_QUESTION });
    const elicitationId = decodeString(rig.of("ask")[0]?.asks[0]?.input.at(["elicitationId"]));
    expect(elicitationId).toBeTypeOf("string");
    answer(rig, { q: { action: "accept" } });
    await ended(rig, { status: "completed", result: RESULT });
    expect(rig.of("notice")).toMatchObject([{ method: "notifications/elicitation/complete" }]);
    expect(rig.of("notice")[0]?.payload.value()).toEqual({ elicitationId });
    await using modern = await modernTasks();
    await started(modern, { session });
    await asked(modern, { q: URL_QUESTION });
    expect(modern.of("ask")[0]?.asks[0]?.input.value()).toEqual(URL_QUESTION.params);
    await ended(modern, { status: "completed", result: RESULT });
    expect(modern.of("notice")).toEqual([]);
  });

  test("takes a question back that it does not ask any more, and does not wait for its answer", async () => {
    await using rig = await modernTasks();
    await started(rig);
    await asked(rig, { one: FORM, two: FORM });
    answer(rig, { one: { action: "accept" } });
    rig.task = { status: "input_required", inputRequests: { one: FORM } };
    await rig.pass(() => expect(rig.seen("tasks/update")).toHaveLength(1));
    expect(rig.of("notice")).toMatchObject([{ method: "notifications/cancelled", key: "two" }]);
    expect(rig.seen("tasks/update")[0]).toMatchObject({ inputResponses: { one: { action: "accept" } } });
  });

  test("fails with its own error, in the words of the caller's era", async () => {
    const error = { code: -32021, message: "no", data: { requiredCapabilities: { roots: {} } } };
    await using rig = await modernTasks();
    await started(rig);
    await ended(rig, { status: "failed", error });
    expect(rig.out.ends).toMatchObject([{ outcome: "fault" }]);
    expect(rig.out.result).toEqual(error);
    await using older = await modernTasks();
    await started(older, OLD);
    expect(await ended(older, { status: "failed", error })).toMatchObject({
      message: expect.stringContaining("roots"),
    });
  });

  test.each([
    ["completed without a result", { status: "completed" }],
    ["completed with something else", { status: "completed", result: { resultType: "task", taskId: "x" } }],
    ["failed without an error", { status: "failed" }],
    ["asking for nothing one can read", { status: "input_required", inputRequests: { q: 5 } }],
    ["in no state that is known", { status: "paused" }],
  ])("is given up when it is %s", async (_, task) => {
    await using rig = await modernTasks();
    await started(rig);
    expect(await ended(rig, task)).toMatchObject({ code: "PROVIDER_FAILED" });
    await vi.waitFor(() => expect(rig.seen("tasks/cancel")).toHaveLength(1));
  });

  test("is given up when it asks without end", async () => {
    await using rig = await modernTasks();
    await started(rig);
    const many = Object.fromEntries(Array.from({ length: 257 }, (_, index) => [`q${index}`, FORM]));
    const message = expect.stringContaining("256");
    expect(await ended(rig, { status: "input_required", inputRequests: many })).toMatchObject({ message });
    expect(rig.of("ask")).toEqual([]);
  });

  test.each([
    ["no id", { status: "working", resultType: "task" }],
    ["no status", { taskId: TASK_ID, resultType: "task" }],
  ])("fails at once when it has %s", async (_, result) => {
    await using rig = await modernTasks({ "tools/call": (exchange) => exchange.result(result) });
    expect(await rig.start().done).toMatchObject({ code: "PROVIDER_FAILED" });
    expect(rig.out.events).toEqual([]);
  });

  test("is cancelled at the server, once, when nobody wants it any more", async () => {
    await using rig = await modernTasks();
    await started(rig);
    rig.reply({ type: "cancel" });
    rig.reply({ type: "cancel" });
    expect(await rig.done).toMatchObject({ code: "CANCELLED" });
    await vi.waitFor(() => expect(rig.seen("tasks/cancel")).toMatchObject([{ taskId: TASK_ID }]));
    await rig.setup.provider.close();
    expect(rig.time.pending).toBe(0);
  });

  test("is never made when the call is cancelled before: the request is closed", async () => {
    let isClosed = false;
    const hold: Handler = ({ response }) =>
      void response.on("close", () => {
        isClosed = true;
      });
    await using rig = await modernTasks({ "tools/call": hold });
    rig.start();
    await vi.waitFor(() => expect(rig.seen("tools/call")).toHaveLength(1));
    rig.reply({ type: "cancel" });
    await vi.waitFor(() => expect(isClosed).toBe(true));
    rig.time.advance(5_000);
    expect(await rig.done).toMatchObject({ code: "CANCELLED" });
    expect(rig.seen("tasks/cancel")).toEqual([]);
  });

  test("ends cancelled when the server cancels it", async () => {
    await using rig = await modernTasks();
    await started(rig);
    expect(await ended(rig, { status: "cancelled" })).toMatchObject({ code: "CANCELLED" });
    expect(rig.seen("tasks/cancel")).toEqual([]);
  });

  test("fails when the server has forgotten it, and when the server is gone", async () => {
    await using rig = await modernTasks({ "tasks/get": (exchange) => fault(exchange, { code: -32602, message: "" }) });
    await started(rig);
    expect(await ended(rig, {})).toMatchObject({ message: "The server does not know its task any more." });
    await using gone = await modernTasks();
    await started(gone);
    await gone.server.stop();
    expect(await ended(gone, {})).toMatchObject({ code: "OUTCOME_UNKNOWN" });
  });
});
