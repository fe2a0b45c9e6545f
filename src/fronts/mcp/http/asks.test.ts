import { describe, expect, test } from "vitest";
import { call, endWith, mcpRig, until } from "../../../../tests/kit/mcp-rig.ts";
import { type Ask, payload } from "../../../contract/index.ts";

const elicit = (key: string, input = '{"message":"ok?"}'): Ask => ({
  key,
  kind: "elicit",
  method: "elicitation/create",
  input: payload(input),
});
const answerTo = (id: unknown) => JSON.stringify({ jsonrpc: "2.0", id, result: { action: "accept" } });

describe("a question during a call", () => {
  test("goes out on the call's stream, and its answer comes back to the run", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize("2025-11-25", { elicitation: {} });
    rig.runs.onStart = (run) => run.write({ type: "ask", asks: [elicit("a"), elicit("b")] });
    const stream = await rig.open({ headers, body: call(7) });
    const first = await stream.message(0);
    const second = await stream.message(1);
    expect([first, second]).toMatchObject([
      { id: 1, method: "elicitation/create", params: { message: "ok?" } },
      { id: 2, method: "elicitation/create" },
    ]);
    expect((await rig.send({ headers, body: answerTo(2) })).status).toBe(202);
    expect(rig.runs.last.replies).toMatchObject([{ type: "answer", answers: [{ key: "b", outcome: "result" }] }]);
    await rig.send({ headers, body: '{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}' });
    expect(rig.runs.last.replies.at(-1)).toMatchObject({ answers: [{ key: "a", outcome: "fault" }] });
    rig.runs.last.write(endWith({}));
    await stream.ended();
  });

  test("is answered once: a second answer changes nothing", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize("2025-11-25", { elicitation: {} });
    rig.runs.onStart = (run) => run.write({ type: "ask", asks: [elicit("a")] });
    const stream = await rig.open({ headers, body: call(7) });
    await stream.message(0);
    await rig.send({ headers, body: answerTo(1) });
    expect((await rig.send({ headers, body: answerTo(1) })).status).toBe(202);
    expect(rig.runs.last.replies.length).toBe(1);
  });

  test("cannot be answered by another session, nor under an id spelled otherwise", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize("2025-11-25", { elicitation: {} });
    const other = await rig.initialize("2025-11-25", { elicitation: {} });
    rig.runs.onStart = (run) => run.write({ type: "ask", asks: [elicit("a")] });
    const stream = await rig.open({ headers, body: call(7) });
    await stream.message(0);
    expect((await rig.send({ headers: other, body: answerTo(1) })).status).toBe(202);
    expect((await rig.send({ headers, body: answerTo("1") })).status).toBe(202);
    expect((await rig.send({ body: answerTo(1) })).status).toBe(202);
    expect(rig.runs.last.replies).toEqual([]);
  });

  test("is refused at once for a client that did not declare it", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize("2025-11-25", { roots: {} });
    rig.runs.onStart = (run) => {
      run.onReply = () => run.write(endWith({ refused: true }));
      run.write({ type: "ask", asks: [elicit("a")] });
    };
    const answer = await rig.send({ headers, body: call(7) });
    expect(answer.json()).toMatchObject({ result: { refused: true } });
    expect(rig.runs.last.replies).toMatchObject([{ answers: [{ key: "a", outcome: "fault" }] }]);
  });

  test.each([
    '"_meta":{"progressT\\u006fken":1,"progressToken":2}',
    '"_meta":{"progressT\\u006fken":1,"progressT\\u006fken":2}',
    '"_meta":{"progressToken":1},"_met\\u0061":{"progressToken":2}',
  ])("is refused where two readers would hear of it under two names, and the call goes on: %s", async (twice) => {
    await using rig = await mcpRig();
    const headers = await rig.initialize("2025-11-25", { elicitation: {} });
    const ambiguous = elicit("a", `{"message":"ok?",${twice}}`);
    rig.runs.onStart = (run) => run.write({ type: "ask", asks: [ambiguous, elicit("b")] });
    const stream = await rig.open({ headers, body: call(7) });
    expect(await stream.message(0)).toMatchObject({ id: 1, method: "elicitation/create", params: { message: "ok?" } });
    expect(rig.runs.last.replies).toMatchObject([{ answers: [{ key: "a", outcome: "fault" }] }]);
    rig.runs.last.write(endWith({}));
    expect(await stream.message(1)).toMatchObject({ id: 7, result: {} });
  });

  test("is passed on byte for byte where what is ambiguous about it is not for the gateway to read", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize("2025-11-25", { elicitation: {} });
    const input = '{"message":"a","m\\u0065ssage":"b","_meta":{"x":1,"x":2}}';
    rig.runs.onStart = (run) => run.write({ type: "ask", asks: [elicit("a", input)] });
    const stream = await rig.open({ headers, body: call(7) });
    await stream.message(0);
    expect(stream.text).toContain(input);
    rig.runs.last.write(endWith({}));
    await stream.ended();
  });

  test("is refused for a client that takes only JSON and listens nowhere", async () => {
    await using rig = await mcpRig();
    const headers = { ...(await rig.initialize("2025-11-25", { elicitation: {} })), accept: "application/json" };
    rig.runs.onStart = (run) => {
      run.onReply = () => run.write(endWith({ refused: true }));
      run.write({ type: "ask", asks: [elicit("a")] });
    };
    expect((await rig.send({ headers, body: call(7) })).json()).toMatchObject({ result: { refused: true } });
  });

  test("goes to the session's own stream when the client takes only JSON for its calls", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize("2025-11-25", { elicitation: {} });
    const listening = await rig.open({ method: "GET", headers });
    rig.runs.onStart = (run) => {
      run.onReply = () => run.write(endWith({ answered: true }));
      run.write({ type: "ask", asks: [elicit("a")] });
    };
    const calling = rig.send({ headers: { ...headers, accept: "application/json" }, body: call(7) });
    expect(await listening.message(0)).toMatchObject({ id: 1, method: "elicitation/create" });
    await rig.send({ headers, body: answerTo(1) });
    expect((await calling).json()).toMatchObject({ result: { answered: true } });
  });

  test("keeps its id when the client comes back for it, and is not asked again once answered", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize("2025-11-25", { elicitation: {} });
    rig.runs.onStart = (run) => run.write({ type: "ask", asks: [elicit("a")] });
    const stream = await rig.open({ headers, body: call(7) });
    await stream.message(0);
    stream.close();
    await until(() => !rig.runs.last.isRead);
    const place = { ...headers, "last-event-id": `${rig.runs.last.id}.-1` };
    const again = await rig.open({ method: "GET", headers: place });
    expect(await again.message(0)).toMatchObject({ id: 1 });
    await rig.send({ headers, body: answerTo(1) });
    again.close();
    await until(() => !rig.runs.last.isRead);
    const third = await rig.open({ method: "GET", headers: place });
    rig.runs.last.write(endWith({}));
    expect(await third.message(0)).toMatchObject({ id: 7, result: {} });
  });

  test("that the server takes back is told with our id and forgotten", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize("2025-11-25", { elicitation: {} });
    rig.runs.onStart = (run) => {
      run.write({ type: "ask", asks: [elicit("a")] });
      const taken = payload('{"requestId":77,"reason":"late"}');
      run.write({ type: "notice", method: "notifications/cancelled", key: "a", payload: taken });
    };
    const stream = await rig.open({ headers, body: call(7) });
    expect(await stream.message(1)).toMatchObject({
      method: "notifications/cancelled",
      params: { requestId: 1, reason: "late" },
    });
    await rig.send({ headers, body: answerTo(1) });
    expect(rig.runs.last.replies).toEqual([]);
  });

  test("brings the client's progress on it back to the run", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize("2025-11-25", { elicitation: {} });
    const ask = elicit("a", '{"message":"ok?","_meta":{"progressToken":"theirs"}}');
    rig.runs.onStart = (run) => run.write({ type: "ask", asks: [ask] });
    const stream = await rig.open({ headers, body: call(7) });
    expect(await stream.message(0)).toMatchObject({ params: { _meta: { progressToken: 1 } } });
    await rig.send({
      headers,
      body: '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}',
    });
    expect(rig.runs.last.replies).toMatchObject([{ type: "notice", method: "notifications/progress", key: "a" }]);
  });
});

describe("a log message during a call", () => {
  test("passes until a level is set, and then only from that level on", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize();
    rig.runs.onStart = (run) => {
      run.write({ type: "log", payload: payload('{"level":"info","data":"x"}') });
      run.write(endWith({}));
    };
    expect((await rig.send({ headers, body: call(1) })).headers["content-type"]).toBe("text/event-stream");
    const set = (level: string) => `{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"${level}"}}`;
    expect((await rig.send({ headers, body: set("loud") })).json()).toMatchObject({ error: { code: -32602 } });
    expect((await rig.send({ headers, body: set("warning") })).json()).toMatchObject({ result: {} });
    expect(rig.catalog.notified).toMatchObject([{ method: "logging/setLevel" }]);
    expect((await rig.send({ headers, body: call(3) })).headers["content-type"]).toBe("application/json");
  });
});
