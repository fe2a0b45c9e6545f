import { describe, expect, test } from "vitest";
import { endWith, until } from "../../../../tests/kit/mcp-rig.ts";
import { META, modern, modernCall } from "../../../../tests/kit/modern-client.ts";
import { ALL, type Asked, ask, retry, roundRig } from "../../../../tests/kit/round-rig.ts";
import { GatewayError, jsonText, payload } from "../../../contract/index.ts";

const YES = { q1: { action: "accept", content: { ok: true } } };
const INVALID = { code: -32602, message: "Invalid or expired requestState" };

describe("a question in a call", () => {
  test("ends the exchange; the answer goes to the open run, and its result comes back", async () => {
    await using rig = await roundRig();
    const question = ask("q1", "elicit", { message: "Go?", requestedSchema: {}, _meta: { a: 1 }, task: {} });
    const asked = await rig.asked(modernCall({ x: 1 }, { capabilities: ALL }), [question]);
    expect(asked).toEqual({
      resultType: "input_required",
      inputRequests: { q1: { method: "elicitation/create", params: { message: "Go?", requestedSchema: {} } } },
      requestState: expect.stringMatching(/^k[0-9a-f]{8}\./),
      _meta: { [`${META}serverInfo`]: { name: "isthmus", version: "0.0.0" } },
    });
    const run = rig.runs.last;
    expect([run.cancelled, run.isEnded]).toEqual([undefined, false]);
    run.onReply = () => run.write(endWith({ content: [] }));
    const answer = await rig.send(retry(asked.requestState, YES));
    expect(answer.json()).toMatchObject({ id: 2, result: { content: [], resultType: "complete" } });
    expect(run.replies).toMatchObject([{ type: "answer", answers: [{ key: "q1", outcome: "result" }] }]);
    expect(rig.runs.started).toHaveLength(1);
    expect(rig.time.pending).toBeLessThanOrEqual(3);
  });

  test("waits a moment for others, and goes out with them", async () => {
    await using rig = await roundRig();
    const answer = rig.send(modernCall({}, { capabilities: ALL }));
    await until(() => rig.runs.started.length === 1);
    const run = rig.runs.last;
    run.write({ type: "ask", asks: [ask("a")] });
    rig.time.advance(20);
    run.write({ type: "ask", asks: [ask("b", "sample", { messages: [] })] });
    rig.time.advance(20);
    run.write({ type: "ask", asks: [{ ...ask("c", "roots"), input: payload("") }] });
    rig.time.advance(25);
    const { inputRequests } = (await answer).json<{ result: Asked }>().result;
    expect(Object.keys(inputRequests)).toEqual(["a", "b", "c"]);
    expect(inputRequests.c).toEqual({ method: "roots/list", params: {} });
  });

  test("does not wait for ever, and not for more than can be asked at once", async () => {
    await using rig = await roundRig();
    const slow = rig.send(modernCall({}, { capabilities: ALL }));
    await until(() => rig.runs.started.length === 1);
    for (let at = 0; at < 11; at++) {
      rig.runs.last.write({ type: "ask", asks: [ask(`k${at}`)] });
      rig.time.advance(20);
    }
    expect(Object.keys((await slow).json<{ result: Asked }>().result.inputRequests)).toHaveLength(10);
    const many = rig.send(modernCall({}, { capabilities: ALL }));
    await until(() => rig.runs.started.length === 2);
    for (let at = 0; at < 16; at++) rig.runs.last.write({ type: "ask", asks: [ask(`k${at}`)] });
    expect(Object.keys((await many).json<{ result: Asked }>().result.inputRequests)).toHaveLength(16);
  });

  test("that comes too late for a round is asked in the next", async () => {
    await using rig = await roundRig();
    const { run, state } = await rig.suspended();
    run.write({ type: "ask", asks: [ask("late")] });
    const next = rig.send(retry(state, YES));
    await until(() => run.replies.length === 1);
    rig.time.advance(25);
    const second = (await next).json<{ result: Asked }>().result;
    expect(Object.keys(second.inputRequests)).toEqual(["late"]);
    expect(second.requestState).not.toBe(state);
  });

  test("in URL mode goes without the id that this era does not have", async () => {
    await using rig = await roundRig();
    const question = ask("q1", "elicit", { mode: "url", url: "https://x", elicitationId: "e", message: "m" });
    const { inputRequests } = await rig.asked(modernCall({}, { capabilities: ALL }), [question]);
    expect(inputRequests.q1?.params).toEqual({ mode: "url", url: "https://x", message: "m" });
  });

  test("can be asked in prompts and resources as well", async () => {
    await using rig = await roundRig();
    const { FakeView, okProvider } = await import("../../../../tests/kit/fake-catalog.ts");
    rig.catalog.current = new FakeView(
      2,
      [okProvider("one")],
      [
        { kind: "prompt", name: "p" },
        { kind: "resource", name: "a:b" },
      ],
    );
    for (const [method, params] of [
      ["prompts/get", { name: "p" }],
      ["resources/read", { uri: "a:b" }],
    ] as const) {
      const asked = await rig.asked(modern(method, params, { capabilities: ALL }), [ask("q1")]);
      expect(asked.resultType).toBe("input_required");
      expect(asked).not.toHaveProperty("ttlMs");
      rig.runs.last.onReply = () => rig.runs.last.write(endWith({ messages: [] }));
      const more = { ...params, inputResponses: YES, requestState: asked.requestState };
      const answer = await rig.send(modern(method, more, { capabilities: ALL }));
      expect(answer.json()).toMatchObject({ result: { resultType: "complete", messages: [] } });
    }
  });

  test("is refused at once when the client has not declared it, and a server that can do without goes on", async () => {
    await using rig = await roundRig();
    rig.runs.onStart = (run) => {
      run.onReply = () => run.write(endWith({ content: ["fallback"] }));
      run.write({ type: "ask", asks: [ask("q1", "sample")] });
    };
    const answer = await rig.send(modernCall({}, { capabilities: { elicitation: {} } }));
    expect([answer.status, answer.json()]).toMatchObject([200, { result: { content: ["fallback"] } }]);
    expect(rig.runs.last.replies).toMatchObject([{ answers: [{ outcome: "fault" }] }]);
  });

  test.each([
    ["an error of its own", { type: "end", outcome: "fault", payload: payload('{"code":1,"message":"m"}') } as const],
    ["isError", endWith({ content: [], isError: true })],
    ["our error", { type: "error", error: new GatewayError("PROVIDER_FAILED") } as const],
  ])("that was not declared, in a call that then ends with %s, tells what is missing", async (_what, end) => {
    await using rig = await roundRig();
    const asks = [
      ask("a", "sample", { tools: [] }),
      ask("b", "elicit", { mode: "url" }),
      ask("c", "elicit"),
      ask("d", "roots"),
    ];
    rig.runs.onStart = (run) => {
      run.onReply = () => run.replies.length === 4 && run.write(end);
      run.write({ type: "ask", asks });
    };
    const answer = await rig.send(modernCall({}, { capabilities: { sampling: {} } }));
    const requiredCapabilities = { sampling: { tools: {} }, elicitation: { url: {}, form: {} }, roots: {} };
    expect([answer.status, answer.json()]).toMatchObject([
      400,
      { id: 1, error: { code: -32021, data: { requiredCapabilities } } },
    ]);
  });

  test("is answered negatively where a method has no rounds, or too many calls wait", async () => {
    await using rig = await roundRig();
    rig.runs.onStart = (run) => {
      run.onReply = () => run.write(endWith({}));
      run.write({ type: "ask", asks: [ask("q1")] });
    };
    const answer = await rig.send(modern("vendor/thing", {}, { capabilities: ALL }));
    expect(answer.json()).toMatchObject({ result: { resultType: "complete" } });
    expect(rig.runs.last.replies).toMatchObject([{ answers: [{ payload: { text: '{"action":"cancel"}' } }] }]);
    rig.runs.onStart = () => {};
    for (let count = 0; count < 256; count++) await rig.suspended();
    rig.runs.onStart = (run) => {
      run.onReply = () => run.write(endWith({ content: [] }));
      run.write({ type: "ask", asks: [ask("q1")] });
    };
    const over = await rig.send(modernCall({}, { capabilities: ALL }));
    expect(over.json()).toMatchObject({ result: { resultType: "complete" } });
  });

  test("that its server takes back is not asked again", async () => {
    await using rig = await roundRig();
    const { run, state } = await rig.suspended();
    run.write({ type: "notice", method: "notifications/cancelled", payload: payload("{}"), key: "q1" });
    run.write(endWith({ content: [], isError: true }));
    const answer = await rig.send(retry(state, YES));
    expect(answer.json()).toMatchObject({ result: { isError: true, resultType: "complete" } });
    expect(run.replies).toEqual([]);
  });
});

describe("a call that waits for its client", () => {
  test("keeps a result that comes meanwhile for the retry", async () => {
    await using rig = await roundRig();
    const { run, state } = await rig.suspended();
    run.write(endWith({ content: ["done"] }));
    expect((await rig.send(retry(state, YES))).json()).toMatchObject({ result: { content: ["done"] } });
    expect((await rig.send(retry(state, YES))).json()).toMatchObject({ error: { data: { reason: "state_used" } } });
  });

  test("says that its server was lost meanwhile", async () => {
    await using rig = await roundRig();
    const { run, state } = await rig.suspended();
    run.write({ type: "error", error: new GatewayError("OUTCOME_UNKNOWN") });
    const answer = await rig.send(retry(state, YES));
    expect([answer.status, answer.json()]).toMatchObject([
      200,
      { error: { code: -32603, data: { reason: "upstream_lost" } } },
    ]);
  });

  test("says its last progress first, under the token of the new round", async () => {
    await using rig = await roundRig();
    const { run, state } = await rig.suspended();
    for (const progress of [1, 2]) run.write({ type: "progress", payload: payload(jsonText({ progress })) });
    run.onReply = () => run.write(endWith({ content: [] }));
    const answer = await rig.send(retry(state, YES, { meta: { progressToken: "second" } }));
    const [first, ...rest] = answer.text.trim().split("\n\n");
    expect(JSON.parse((first as string).slice(6))).toMatchObject({ params: { progressToken: "second", progress: 2 } });
    expect(rest).toHaveLength(1);
  });

  test("ends when nobody comes back: each question is answered, then the call is cancelled", async () => {
    await using rig = await roundRig();
    const asks = [ask("e"), ask("s", "sample"), ask("r", "roots")];
    const { requestState } = await rig.asked(modernCall({ x: 1 }, { capabilities: ALL }), asks);
    const run = rig.runs.last;
    rig.time.advance(600_000);
    expect(run.replies).toMatchObject([
      {
        answers: [
          { key: "e", outcome: "result", payload: { text: '{"action":"cancel"}' } },
          { key: "s", outcome: "fault" },
          { key: "r", outcome: "fault" },
        ],
      },
    ]);
    const codes = run.replies.flatMap((reply) => (reply.type === "answer" ? reply.answers : []));
    expect(codes.map((answer) => answer.payload.at(["code"]))).toEqual([undefined, "-1", "-32603"]);
    expect(run.cancelled).toBe("the client did not answer in time");
    expect((await rig.send(retry(requestState, YES))).json()).toMatchObject({ error: INVALID });
  });

  test("is not idle, and leaves nothing behind", async () => {
    await using rig = await roundRig({ idleMs: 60_000 });
    for (let count = 0; count < 50; count++) await rig.suspended();
    rig.time.advance(300_000);
    expect(rig.sessions.size).toBe(1);
    rig.time.advance(600_000);
    expect([rig.sessions.size, rig.time.pending]).toEqual([0, 0]);
  });

  test("ends with its session", async () => {
    await using rig = await roundRig();
    const { run } = await rig.suspended();
    rig.sessions.close();
    expect(run.cancelled).toBe("the gateway is shutting down");
  });
});
