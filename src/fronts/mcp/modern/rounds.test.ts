import { describe, expect, test } from "vitest";
import { endWith, until } from "../../../../tests/kit/mcp-rig.ts";
import { modern, modernCall } from "../../../../tests/kit/modern-client.ts";
import { ALL, type Asked, ask, retry, roundRig } from "../../../../tests/kit/round-rig.ts";
import { jsonText, payload } from "../../../contract/index.ts";
import { createSeal } from "../../../mechanisms/vault/index.ts";

const YES = { q1: { action: "accept", content: { ok: true } } };
const manyAnswers = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, {}]));
const INVALID = { code: -32602, message: "Invalid or expired requestState" };

describe("a retry", () => {
  test("that answers some is asked the rest again under the same keys", async () => {
    await using rig = await roundRig();
    const first = await rig.asked(modernCall({ x: 1 }, { capabilities: ALL }), [ask("a"), ask("b")]);
    const run = rig.runs.last;
    const next = rig.send(retry(first.requestState, { b: { action: "decline" }, unknown: {} }));
    await until(() => run.replies.length === 1);
    rig.time.advance(25);
    const second = (await next).json<{ result: Asked }>().result;
    expect(Object.keys(second.inputRequests)).toEqual(["a"]);
    expect(run.replies).toMatchObject([{ answers: [{ key: "b", payload: { text: '{"action":"decline"}' } }] }]);
    run.onReply = () => run.write(endWith({ content: [] }));
    const last = await rig.send(retry(second.requestState, { a: { action: "accept" } }));
    expect(last.json()).toMatchObject({ result: { resultType: "complete" } });
  });

  test("without answers gets the same questions and a new state", async () => {
    await using rig = await roundRig();
    const { run, state } = await rig.suspended();
    const again = (await rig.send(retry(state))).json<{ result: Asked }>().result;
    expect(Object.keys(again.inputRequests)).toEqual(["q1"]);
    expect(again.requestState).not.toBe(state);
    run.onReply = () => run.write(endWith({ content: [] }));
    expect((await rig.send(retry(state, YES))).json()).toMatchObject({ error: { data: { reason: "state_used" } } });
    expect((await rig.send(retry(again.requestState, YES))).json()).toMatchObject({ result: { content: [] } });
  });

  test("with answers but without a state is a new call", async () => {
    await using rig = await roundRig();
    await rig.suspended();
    rig.runs.onStart = (run) => run.write(endWith({ content: [] }));
    expect((await rig.send(retry(undefined, YES))).json()).toMatchObject({ result: { resultType: "complete" } });
    expect(rig.runs.started).toHaveLength(2);
  });

  test("that declares less than is asked is told what is missing, and may come again", async () => {
    await using rig = await roundRig();
    const { run, state } = await rig.suspended();
    const answer = await rig.send(retry(state, YES, { capabilities: { roots: {} } }));
    const data = { requiredCapabilities: { elicitation: { form: {} } } };
    expect([answer.status, answer.json()]).toMatchObject([400, { id: 2, error: { code: -32021, data } }]);
    run.onReply = () => run.write(endWith({ content: [] }));
    expect((await rig.send(retry(state, YES))).json()).toMatchObject({ result: { content: [] } });
  });

  test("whose client drops the stream cancels the call", async () => {
    await using rig = await roundRig();
    const { run, state } = await rig.suspended();
    const gone = new AbortController();
    rig.send(retry(state, YES, { signal: gone.signal })).catch(() => undefined);
    await until(() => run.replies.length === 1);
    gone.abort();
    await until(() => run.cancelled !== undefined);
    expect((await rig.send(retry(state, YES))).json()).toMatchObject({ error: { data: { reason: "state_used" } } });
  });

  test("that brings roots answers the same question again, when the server asks it in the same call", async () => {
    await using rig = await roundRig();
    const { requestState } = await rig.asked(modernCall({ x: 1 }, { capabilities: ALL }), [ask("r", "roots")]);
    const run = rig.runs.last;
    run.onReply = () => {
      if (run.replies.length === 1) run.write({ type: "ask", asks: [ask("again", "roots")] });
      else run.write(endWith({ content: [] }));
    };
    const answer = await rig.send(retry(requestState, { r: { roots: [] } }));
    expect(answer.json()).toMatchObject({ result: { resultType: "complete" } });
    expect(run.replies).toMatchObject([{}, { answers: [{ key: "again", payload: { text: '{"roots":[]}' } }] }]);
  });

  test("that brings roots makes them known to servers that ask outside calls", async () => {
    await using rig = await roundRig();
    const { requestState } = await rig.asked(modernCall({ x: 1 }, { capabilities: ALL }), [ask("r", "roots")]);
    rig.runs.last.onReply = () => rig.runs.last.write(endWith({ content: [] }));
    await rig.send(retry(requestState, { r: { roots: [{ uri: "file:///a" }] } }));
    expect(rig.catalog.notified).toMatchObject([{ method: "notifications/roots/list_changed" }]);
    const { session } = rig.runs.last.call;
    const question = ask("x", "roots");
    const answer = await rig.sessions.ask(session as never, question, new AbortController().signal);
    expect(answer.payload.value()).toEqual({ roots: [{ uri: "file:///a" }] });
  });
});

describe("a state under attack", () => {
  test.each([
    ["other arguments", { args: { x: 2 } }, { reason: "request_mismatch" }],
    ["one argument more", { args: { x: 1, y: 1 } }, { reason: "request_mismatch" }],
    ["no arguments", { more: { arguments: undefined } }, { reason: "request_mismatch" }],
  ])("goes with no other request: %s", async (_what, options, data) => {
    await using rig = await roundRig();
    const { run, state } = await rig.suspended();
    const answer = await rig.send(retry(state, YES, options));
    expect([answer.status, answer.json()]).toMatchObject([200, { id: 2, error: { code: -32602, data } }]);
    expect(run.replies).toEqual([]);
    run.onReply = () => run.write(endWith({ content: [] }));
    expect((await rig.send(retry(state, YES))).json()).toMatchObject({ result: { content: [] } });
  });

  test("does not go with another spelling of a number, or another tool", async () => {
    await using rig = await roundRig();
    const { state } = await rig.suspended();
    const sent = retry(state, YES);
    const spelled = await rig.send({ ...sent, body: String(sent.body).replace('{"x":1}', '{"x":1.0}') });
    expect(spelled.json()).toMatchObject({ error: { data: { reason: "request_mismatch" } } });
    const other = modern(
      "tools/call",
      { name: "other", arguments: { x: 1 }, requestState: state },
      { capabilities: ALL },
    );
    expect((await rig.send(other)).json()).toMatchObject({ error: { data: { reason: "request_mismatch" } } });
  });

  test("goes with the same arguments in another order", async () => {
    await using rig = await roundRig();
    const args = { a: 1, b: { c: [1], d: "x" } };
    const { requestState } = await rig.asked(modernCall(args, { capabilities: ALL }), [ask("q1")]);
    rig.runs.last.onReply = () => rig.runs.last.write(endWith({ content: [] }));
    const answer = await rig.send(retry(requestState, YES, { args: { b: { d: "x", c: [1] }, a: 1 } }));
    expect(answer.json()).toMatchObject({ result: { content: [] } });
  });

  test("is refused when any byte of it is another, always with the same words, and still works as it was", async () => {
    await using rig = await roundRig();
    const { run, state } = await rig.suspended();
    for (let at = 0; at < state.length; at++) {
      const char = state.charAt(at) === "A" ? "B" : "A";
      const answer = await rig.send(retry(state.slice(0, at) + char + state.slice(at + 1), YES));
      expect([at, answer.status, answer.json().error]).toEqual([at, 200, INVALID]);
    }
    for (const wrong of [`${state}-TAMPERED`, "", "garbage", state.slice(1), "x".repeat(50_000)]) {
      expect((await rig.send(retry(wrong, YES))).json().error).toEqual(INVALID);
    }
    expect(run.replies).toEqual([]);
    run.onReply = () => run.write(endWith({ content: [] }));
    expect((await rig.send(retry(state, YES))).json()).toMatchObject({ result: { content: [] } });
  });

  test("of another key, another caller, another catalog or an expired time is refused with the same words", async () => {
    await using rig = await roundRig();
    const { state } = await rig.suspended();
    const [keys, other] = [createSeal(), createSeal()];
    const text = '{"v":1,"h":"x","g":"x","d":"x","x":9e15}';
    expect((await rig.send(retry(other.seal("mrtr", "\0local", text), YES))).json().error).toEqual(INVALID);
    expect(keys.open("mrtr", "\0local", other.seal("mrtr", "\0local", text))).toBeUndefined();
    expect((await rig.send(retry(state, YES, { path: "/ops/mcp" }))).json().error).toEqual(INVALID);
    rig.time.advance(600_001);
    expect((await rig.send(retry(state, YES))).json().error).toEqual(INVALID);
  });

  test("serves once: of two that come at the same time, one goes on", async () => {
    await using rig = await roundRig();
    const { run, state } = await rig.suspended();
    const both = [rig.send(retry(state, YES, { id: "a" })), rig.send(retry(state, YES, { id: "b" }))];
    await until(() => run.replies.length === 1);
    const refused = (await Promise.race(both)).json();
    expect(refused).toMatchObject({ error: { code: -32602, data: { reason: "state_used" } } });
    run.write(endWith({ content: [] }));
    const answers = (await Promise.all(both)).map((answer) => answer.json());
    expect(answers.filter((answer) => "result" in answer)).toHaveLength(1);
    expect(run.replies).toHaveLength(1);
    expect((await rig.send(retry(state, YES))).json()).toMatchObject({ error: { data: { reason: "state_used" } } });
  });

  test.each([[{ q1: 12345 }], [{ q1: null }], [[1]], [7], [{ q1: "accept" }]])(
    "with answers like %j is refused before anything is touched",
    async (answers) => {
      await using rig = await roundRig();
      const { run, state } = await rig.suspended();
      expect((await rig.send(retry(state, answers))).json()).toMatchObject({ error: { code: -32602 } });
      run.onReply = () => run.write(endWith({ content: [] }));
      expect((await rig.send(retry(state, YES))).json()).toMatchObject({ result: { content: [] } });
    },
  );

  test("is used up whatever comes with it: answers that nobody waits for are not read", async () => {
    await using rig = await roundRig();
    const { run, state } = await rig.suspended();
    run.onReply = () => run.write(endWith({ content: [] }));
    await rig.send(retry(state, YES));
    const used = { error: { data: { reason: "state_used" } } };
    expect((await rig.send(retry(state, { q1: 12345 }))).json()).toMatchObject(used);
    expect((await rig.send(retry(state, manyAnswers(4000)))).json()).toMatchObject(used);
  });

  test("is not gone on with by more answers than anybody was asked for, and still works", async () => {
    await using rig = await roundRig();
    const { run, state } = await rig.suspended();
    for (const count of [1025, 4000]) {
      const refused = (await rig.send(retry(state, manyAnswers(count)))).json();
      expect(refused).toMatchObject({ error: { message: expect.stringContaining("more than 1024 keys") } });
    }
    expect(run.replies).toEqual([]);
    run.onReply = () => run.write(endWith({ content: [] }));
    expect((await rig.send(retry(state, { ...manyAnswers(1000), ...YES }))).json()).toMatchObject({
      result: { content: [] },
    });
  });

  test("must be a string", async () => {
    await using rig = await roundRig();
    const answer = await rig.send(retry(undefined, YES, { more: { requestState: { a: 1 } } }));
    expect(answer.json()).toMatchObject({ error: { code: -32602 } });
    expect(rig.runs.started).toEqual([]);
  });
});

describe("a server's own input_required", () => {
  const STATE = "späte \ud83d\ude00 v1.eyJ\u0001";
  const own = (state?: string) =>
    ({
      type: "end",
      outcome: "input",
      payload: payload(
        jsonText({ resultType: "input_required", inputRequests: { k: {} }, ...(state && { requestState: state }) }),
      ),
    }) as const;

  test("goes out with its state under our seal, and comes back to it byte for byte in a new call", async () => {
    await using rig = await roundRig();
    rig.runs.onStart = (run) => run.write(own(STATE));
    const asked = (await rig.send(modernCall({ x: 1 }, { capabilities: ALL }))).json<{ result: Asked }>().result;
    expect(asked).toMatchObject({ resultType: "input_required", inputRequests: { k: {} } });
    expect(asked.requestState).toMatch(/^k[0-9a-f]{8}\./);
    expect(asked).not.toHaveProperty("content");
    rig.runs.onStart = (run) => run.write(endWith({ content: [] }));
    const wrong = await rig.send(retry(asked.requestState, {}, { args: { x: 2 } }));
    expect(wrong.json()).toMatchObject({ error: { data: { reason: "request_mismatch" } } });
    const answer = await rig.send(retry(asked.requestState, { k: { action: "accept" } }));
    expect(answer.json()).toMatchObject({ result: { resultType: "complete" } });
    expect(rig.runs.last.order.input.value()).toEqual({
      name: "echo",
      arguments: { x: 1 },
      inputResponses: { k: { action: "accept" } },
      requestState: STATE,
    });
    const replay = await rig.send(retry(asked.requestState, { k: {} }));
    expect(replay.json()).toMatchObject({ error: { data: { reason: "state_used" } } });
  });

  test("without a state stays without one", async () => {
    await using rig = await roundRig();
    rig.runs.onStart = (run) => run.write(own());
    const asked = (await rig.send(modernCall({ x: 1 }, { capabilities: ALL }))).json().result;
    expect(asked).not.toHaveProperty("requestState");
    await rig.send(retry(undefined, { k: {} }));
    expect(rig.runs.last.order.input.value()).toMatchObject({ inputResponses: { k: {} } });
  });
});
