import { describe, expect, test } from "vitest";
import { openSession, type Session } from "../../hostile/kit/call.ts";
import { EventStream } from "../../hostile/kit/event-stream.ts";
import { metric } from "../../hostile/kit/observe.ts";
import { type RunningGateway, startGateway } from "../kit/gateway.ts";
import { post, type RpcMessage } from "../kit/rpc.ts";
import { startTaskUpstream, taskIdOf } from "./task-upstream.ts";

const RELATED = "io.modelcontextprotocol/related-task";
const CAPABILITIES = { elicitation: {}, tasks: { requests: { elicitation: { create: {} } } } };
const isQuestion = ({ method }: RpcMessage) => method === "elicitation/create";
const isAnswer = (id: number) => (message: RpcMessage) => message.id === id && message.method === undefined;

async function startTask(gateway: RunningGateway, session: Session, ttl = 60_000): Promise<string> {
  const params = { name: "up.research", arguments: {}, task: { ttl } };
  const { messages } = await post(gateway.url, { id: 1, method: "tools/call", params }, session);
  return taskIdOf(messages.at(-1));
}

const getTask = async (gateway: RunningGateway, session: Session, taskId: string, id = 2) =>
  (await post(gateway.url, { id, method: "tasks/get", params: { taskId } }, session)).messages.at(-1);

const openResult = (gateway: RunningGateway, headers: Session, taskId: string, id = 3) =>
  EventStream.open(gateway.url, {
    method: "POST",
    headers,
    message: { id, method: "tasks/result", params: { taskId } },
  });

const answer = (gateway: RunningGateway, session: Session, id: unknown, which: string) =>
  post(gateway.url, { id, result: { action: "accept", content: { which } } }, session);

describe("a task that waits for input", () => {
  test("is answered from another session of the same principal", async () => {
    await using upstream = await startTaskUpstream();
    await using gateway = await startGateway({ config: upstream.table("up") });
    const first = await openSession(gateway.url, CAPABILITIES);
    const second = await openSession(gateway.url, CAPABILITIES);
    const taskId = await startTask(gateway, first);
    expect(await getTask(gateway, second, taskId)).toMatchObject({ result: { taskId, status: "input_required" } });
    using stream = await openResult(gateway, second, taskId);
    const question = await stream.message(isQuestion);
    expect(question.params?._meta).toEqual({ [RELATED]: { taskId } });
    expect((await answer(gateway, second, question.id, "left")).status).toBe(202);
    const { result } = await stream.message(isAnswer(3));
    expect(result).toMatchObject({
      content: [{ text: expect.stringContaining("left") }],
      _meta: { [RELATED]: { taskId } },
    });
    expect(JSON.stringify(stream.messages)).not.toContain(upstream.task().id);
  });

  test("is not moved by a bare response from a session that was not asked", async () => {
    await using upstream = await startTaskUpstream();
    await using gateway = await startGateway({ config: upstream.table("up") });
    const asked = await openSession(gateway.url, CAPABILITIES);
    const other = await openSession(gateway.url, CAPABILITIES);
    const taskId = await startTask(gateway, asked);
    using stream = await openResult(gateway, asked, taskId);
    const question = await stream.message(isQuestion);
    for (const id of [question.id, String(question.id), 0, "question-1"]) {
      expect((await answer(gateway, other, id, "wrong")).status).toBe(202);
    }
    expect(upstream.task().answer).toBeUndefined();
    expect(await getTask(gateway, other, taskId)).toMatchObject({ result: { status: "input_required" } });
    expect(await metric(gateway, "isthmus_notices_dropped_total", "answer to no question")).toBe(4);
    expect((await answer(gateway, asked, question.id, "right")).status).toBe(202);
    expect(await stream.message(isAnswer(3))).toMatchObject({
      result: { content: [{ text: expect.stringContaining("right") }] },
    });
    // A second answer to the same question is one to no question.
    expect((await answer(gateway, asked, question.id, "again")).status).toBe(202);
    expect(JSON.stringify(upstream.task().answer)).toContain("right");
  });

  test("asks again when the first listener left without an answer", async () => {
    await using upstream = await startTaskUpstream();
    await using gateway = await startGateway({ config: upstream.table("up") });
    const first = await openSession(gateway.url, CAPABILITIES);
    const taskId = await startTask(gateway, first);
    const left = await openResult(gateway, first, taskId);
    await left.message(isQuestion);
    left.cut();
    const second = await openSession(gateway.url, CAPABILITIES);
    using stream = await openResult(gateway, second, taskId);
    const question = await stream.message(isQuestion);
    await answer(gateway, second, question.id, "up");
    expect(await stream.message(isAnswer(3))).toMatchObject({
      result: { content: [{ text: expect.stringContaining("up") }] },
    });
  });
});

describe("a task", () => {
  test("outlives its connections and the session that made it", async () => {
    await using upstream = await startTaskUpstream();
    await using gateway = await startGateway({ config: upstream.table("up") });
    const first = await openSession(gateway.url, CAPABILITIES);
    const listening = await EventStream.open(gateway.url, { method: "GET", headers: first });
    const taskId = await startTask(gateway, first);
    listening.cut();
    expect((await fetch(gateway.url, { method: "DELETE", headers: first })).status).toBe(200);
    expect((await post(gateway.url, { id: 9, method: "tools/list" }, first)).status).toBe(404);
    const second = await openSession(gateway.url, CAPABILITIES);
    expect(await getTask(gateway, second, taskId)).toMatchObject({ result: { taskId, status: "input_required" } });
    using stream = await openResult(gateway, second, taskId);
    const question = await stream.message(isQuestion);
    await answer(gateway, second, question.id, "down");
    expect(await stream.message(isAnswer(3))).toMatchObject({
      result: { content: [{ text: expect.stringContaining("down") }] },
    });
    // The upstream session that holds the task was not ended with the client's.
    expect(upstream.ended).not.toContain(upstream.task().session);
  });

  test("is gone when its time is over", async () => {
    await using upstream = await startTaskUpstream({ ttl: 300 });
    await using gateway = await startGateway({ config: upstream.table("up") });
    const first = await openSession(gateway.url, CAPABILITIES);
    const taskId = await startTask(gateway, first);
    const second = await openSession(gateway.url);
    let id = 10;
    await expect
      .poll(() => getTask(gateway, second, taskId, id++), { timeout: 5000 })
      .toMatchObject({ error: { code: -32602 } });
  });

  test("is listed to every session of its principal, under the same id", async () => {
    await using upstream = await startTaskUpstream();
    await using gateway = await startGateway({ config: upstream.table("up") });
    const taskId = await startTask(gateway, await openSession(gateway.url, CAPABILITIES));
    const second = await openSession(gateway.url);
    const { messages } = await post(gateway.url, { id: 5, method: "tasks/list" }, second);
    expect(messages.at(-1)?.result?.tasks).toMatchObject([{ taskId, status: "input_required" }]);
  });
});
