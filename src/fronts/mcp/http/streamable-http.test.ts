import { describe, expect, test } from "vitest";
import { call, endWith, mcpRig, until } from "../../../../tests/kit/mcp-rig.ts";
import { GatewayError, payload } from "../../../contract/index.ts";

describe("a call over Streamable HTTP", () => {
  test("is answered as one JSON body when its end comes first [AX-077]", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize();
    rig.runs.onStart = (run) => run.write(endWith({ content: [] }));
    const answer = await rig.send({ headers, body: call(7, { text: "hi" }) });
    expect(answer.status).toBe(200);
    expect(answer.headers["content-type"]).toBe("application/json");
    expect(answer.json()).toEqual({ jsonrpc: "2.0", id: 7, result: { content: [] } });
    expect(rig.runs.last.order.input.text).toBe('{"name":"echo","arguments":{"text":"hi"}}');
    expect(rig.runs.last.order).toMatchObject({ verb: "call", life: "resumable", origin: { requestId: "7" } });
  });

  test("becomes a stream when something happens before its end", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize();
    const opening = rig.open({ headers, body: call(7, {}, { _meta: { progressToken: "mine" } }) });
    await until(() => rig.runs.started.length === 1);
    rig.runs.last.write({ type: "progress", payload: payload('{"progressToken":99,"progress":1}') });
    const stream = await opening;
    expect(stream.headers["content-type"]).toBe("text/event-stream");
    expect(await stream.message(0)).toMatchObject({ params: { progressToken: "mine", progress: 1 } });
    rig.runs.last.write(endWith({ ok: true }));
    expect(await stream.message(1)).toEqual({ jsonrpc: "2.0", id: 7, result: { ok: true } });
    await stream.ended();
    const [priming, progress, end] = stream.events;
    expect(priming).toEqual({ type: "message", id: `${rig.runs.last.id}.-1`, retry: 1000, data: "" });
    expect([progress?.id, end?.id]).toEqual([`${rig.runs.last.id}.0`, `${rig.runs.last.id}.1`]);
  });

  test("gets its stream after two seconds in which nothing happened", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize();
    const opening = rig.open({ headers, body: call(7) });
    await until(() => rig.runs.started.length === 1);
    rig.time.advance(2000);
    const stream = await opening;
    await stream.until(() => stream.events.length === 1);
    expect(stream.text).toBe(`id: ${rig.runs.last.id}.-1\nretry: 1000\ndata: \n\n`);
    rig.runs.last.write(endWith({}));
    expect(await stream.message(0)).toMatchObject({ id: 7 });
  });

  test("goes on when its client leaves before there is a stream, and holds up nobody else's", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize();
    const leaving = new AbortController();
    void rig.open({ headers, body: call(6), signal: leaving.signal }).catch(() => {});
    await until(() => rig.runs.started.length === 1);
    const opening = rig.open({ headers, body: call(7) });
    await until(() => rig.runs.started.length === 2);
    leaving.abort();
    // It may only have ended its side and still want the answer: that it is gone shows when it is sent something.
    rig.time.advance(2000);
    await until(() => rig.connections() === 1);
    const stream = await opening;
    expect(rig.runs.started[0]?.cancelled).toBeUndefined();
    rig.runs.started[0]?.write(endWith({}));
    rig.runs.last.write(endWith({}));
    expect(await stream.message(0)).toMatchObject({ id: 7 });
  });

  test("tells older clients the place without an event", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize("2025-06-18");
    const opening = rig.open({ headers, body: call(7) });
    await until(() => rig.runs.started.length === 1);
    rig.time.advance(2000);
    const stream = await opening;
    await stream.until(() => stream.text !== "");
    expect(stream.text).toBe(`id: ${rig.runs.last.id}.-1\n\n`);
  });

  test("is a stream from the start for a client that names streams first", async () => {
    await using rig = await mcpRig();
    const headers = { ...(await rig.initialize()), accept: "text/event-stream, application/json" };
    rig.runs.onStart = (run) => run.write(endWith({}));
    const answer = await rig.send({ headers, body: call(7) });
    const { id } = rig.runs.last;
    expect(answer.text).toBe(
      `id: ${id}.-1\nretry: 1000\ndata: \n\nid: ${id}.0\ndata: {"jsonrpc":"2.0","id":7,"result":{}}\n\n`,
    );
    const list = await rig.send({ headers, body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' });
    expect(list.text).toMatch(/^data: .*"tools":/);
  });

  test("lets the client go when the answer comes later, and has it for the client that comes back", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize();
    rig.runs.onStart = (run) => run.write({ type: "status", state: "polling", retryMs: 250 });
    const first = await rig.send({ headers, body: call(7) });
    const { last } = rig.runs;
    expect(first.text).toMatch(new RegExp(`^id: ${last.id}.0\nretry: 1000\ndata: \n\nid: ${last.id}.0\nretry: 250\n`));
    expect([last.isRead, last.cancelled]).toEqual([false, undefined]);
    last.write(endWith({ ok: 1 }));
    for (const cursor of [0, -1]) {
      const rest = await rig.send({ method: "GET", headers: { ...headers, "last-event-id": `${last.id}.${cursor}` } });
      expect(rest.text).toContain('"result":{"ok":1}');
    }
  });

  test("keeps the client where it cannot be sure that it comes back", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize("2025-06-18");
    rig.runs.onStart = (run) => {
      run.write({ type: "status", state: "polling", retryMs: 250 });
      run.write(endWith({ ok: 1 }));
    };
    expect((await rig.send({ headers, body: call(7) })).json()).toMatchObject({ result: { ok: 1 } });
  });

  test("keeps an idle stream alive with comments", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize();
    const opening = rig.open({ headers, body: call(7) });
    await until(() => rig.runs.started.length === 1);
    rig.time.advance(2000);
    const stream = await opening;
    rig.time.advance(15_000);
    await stream.until(() => stream.text.endsWith(": keep-alive\n\n"));
  });

  test("waits for its end without a stream when the client takes only JSON", async () => {
    await using rig = await mcpRig();
    const headers = { ...(await rig.initialize()), accept: "application/json" };
    const sending = rig.send({ headers, body: call(7, {}, { _meta: { progressToken: 1 } }) });
    await until(() => rig.runs.started.length === 1);
    rig.time.advance(10_000);
    rig.runs.last.write({ type: "progress", payload: payload('{"progressToken":9,"progress":1}') });
    rig.runs.last.write(endWith({}));
    expect((await sending).headers["content-type"]).toBe("application/json");
  });

  test("hears no progress without a token", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize();
    rig.runs.onStart = (run) => {
      run.write({ type: "progress", payload: payload('{"progressToken":9,"progress":1}') });
      run.write(endWith({}));
    };
    expect((await rig.send({ headers, body: call(1) })).headers["content-type"]).toBe("application/json");
  });

  test("goes on when the client loses the connection, and gives the rest to it when it comes back", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize();
    const opening = rig.open({ headers, body: call(7, {}, { _meta: { progressToken: 1 } }) });
    await until(() => rig.runs.started.length === 1);
    const run = rig.runs.last;
    run.write({ type: "progress", payload: payload('{"progressToken":9,"progress":1}') });
    const stream = await opening;
    await stream.message(0);
    stream.close();
    await until(() => !run.isRead);
    expect(run.cancelled).toBeUndefined();
    run.write({ type: "progress", payload: payload('{"progressToken":9,"progress":2}') });
    run.write(endWith({ done: true }));
    const rest = await rig.open({ method: "GET", headers: { ...headers, "last-event-id": `${run.id}.0` } });
    expect(await rest.message(0)).toMatchObject({ params: { progressToken: 1, progress: 2 } });
    expect(await rest.message(1)).toEqual({ jsonrpc: "2.0", id: 7, result: { done: true } });
    await rest.ended();
  });

  test("is not given to another session that knows the event id", async () => {
    await using rig = await mcpRig();
    const mine = await rig.initialize();
    const theirs = await rig.initialize();
    const opening = rig.open({ headers: mine, body: call(7) });
    await until(() => rig.runs.started.length === 1);
    rig.time.advance(2000);
    await opening;
    const id = `${rig.runs.last.id}.-1`;
    const answer = await rig.send({ method: "GET", headers: { ...theirs, "last-event-id": id } });
    expect(answer.status).toBe(204);
    expect(rig.runs.last.isRead).toBe(true);
  });

  test("takes over from a stream that is still open when the client comes back early", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize();
    const opening = rig.open({ headers, body: call(7) });
    await until(() => rig.runs.started.length === 1);
    rig.time.advance(2000);
    const former = await opening;
    const later = await rig.open({ method: "GET", headers: { ...headers, "last-event-id": `${rig.runs.last.id}.-1` } });
    await former.ended();
    rig.runs.last.write(endWith({}));
    expect(await later.message(0)).toMatchObject({ id: 7, result: {} });
  });

  test("stops taking events while the client does not read, and goes on when it does", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize();
    const opening = rig.open({ headers, body: call(7, {}, { _meta: { progressToken: 1 } }) });
    await until(() => rig.runs.started.length === 1);
    const run = rig.runs.last;
    const big = payload(`{"progressToken":9,"progress":1,"message":"${"x".repeat(200_000)}"}`);
    run.write({ type: "progress", payload: big });
    const stream = await opening;
    stream.pause();
    for (let n = 0; n < 100; n++) run.write({ type: "progress", payload: big });
    run.write(endWith({}));
    expect(run.waiting).toBeGreaterThan(10);
    stream.resume();
    expect(await stream.message(101)).toMatchObject({ id: 7 });
  });

  test("is cancelled by the client with its id as it was spelled, and gets no answer", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize();
    const opening = rig.open({ headers, body: call(7) });
    await until(() => rig.runs.started.length === 1);
    rig.time.advance(2000);
    const stream = await opening;
    const cancel = (requestId: unknown) =>
      JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId, reason: "bored" } });
    expect((await rig.send({ headers, body: cancel("7") })).status).toBe(202);
    expect(rig.runs.last.cancelled).toBeUndefined();
    expect((await rig.send({ headers, body: cancel(7) })).status).toBe(202);
    await stream.ended();
    expect(rig.runs.last.cancelled).toBe("bored");
    expect(stream.events.filter((event) => event.data !== "")).toEqual([]);
  });

  test("is refused while another of the same session and id is running", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize();
    void rig.send({ headers, body: call(7) }).catch(() => {});
    await until(() => rig.runs.started.length === 1);
    const second = await rig.send({ headers, body: call(7) });
    expect([second.status, second.json()]).toMatchObject([400, { id: 7, error: { code: -32600 } }]);
    expect(rig.runs.started.length).toBe(1);
  });

  test("turns our errors into results on tools/call and into -32603 elsewhere", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize();
    rig.runs.onStart = (run) => run.write({ type: "error", error: new GatewayError("PROVIDER_UNREACHABLE") });
    const tool = await rig.send({ headers, body: call(1) });
    expect(tool.json()).toMatchObject({
      result: {
        isError: true,
        _meta: { "dev.isthmus/error": { code: "PROVIDER_UNREACHABLE", callId: rig.runs.last.id, retry: "later" } },
      },
    });
    const other = await rig.send({ headers, body: '{"jsonrpc":"2.0","id":2,"method":"x/y"}' });
    expect(other.json()).toMatchObject({ error: { code: -32603, data: { code: "PROVIDER_UNREACHABLE" } } });
  });

  test("relays a provider's own error as it came", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize();
    const fault = payload('{"code":-32042,"message":"sign in","data":{"x":[1,2]}}');
    rig.runs.onStart = (run) => run.write({ type: "end", outcome: "fault", payload: fault });
    const answer = await rig.send({ headers, body: call(1) });
    expect(answer.text).toBe('{"jsonrpc":"2.0","id":1,"error":{"code":-32042,"message":"sign in","data":{"x":[1,2]}}}');
  });
});
