import { describe, expect, test } from "vitest";
import { FakeView, okProvider } from "../../../../tests/kit/fake-catalog.ts";
import { call, endWith, mcpRig, until } from "../../../../tests/kit/mcp-rig.ts";
import { META, modern, modernCall } from "../../../../tests/kit/modern-client.ts";
import { GatewayError, jsonText, payload } from "../../../contract/index.ts";

describe("a call", () => {
  test("goes on without its envelope, and comes back as this era has it", async () => {
    await using rig = await mcpRig();
    rig.runs.onStart = (run) => run.write(endWith({ structuredContent: { a: 1 }, _meta: { b: 2 } }));
    const answer = await rig.send(modernCall({ x: 1 }, { meta: { traceparent: "00-1", progressToken: 5 } }));
    expect(answer.headers["content-type"]).toBe("application/json");
    expect(answer.json()).toEqual({
      jsonrpc: "2.0",
      id: 1,
      result: {
        structuredContent: { a: 1 },
        content: [],
        resultType: "complete",
        _meta: { b: 2, [`${META}serverInfo`]: { name: "isthmus", version: "0.0.0" } },
      },
    });
    const { order } = rig.runs.last;
    expect(JSON.parse(order.input.text)).toEqual({
      name: "echo",
      arguments: { x: 1 },
      _meta: { traceparent: "00-1", progressToken: 5 },
    });
    expect(order.origin).toEqual({ front: "mcp", protocol: "2026-07-28", requestId: "1" });
  });

  test("that names its progress token twice is refused before it begins", async () => {
    await using rig = await mcpRig();
    rig.runs.onStart = (run) => run.write(endWith({ content: [] }));
    const request = modernCall({}, { meta: { progressToken: 5 } });
    const body = String(request.body).replace('"progressToken":5', '"progressToken":5,"progressToken":6');
    expect((await rig.send({ ...request, body })).status).toBe(400);
    expect(rig.runs.started).toEqual([]);
    expect(rig.refused).toMatchObject([{ reason: "message", name: "tools/call" }]);
  });

  test("tells which trace its transport names, in both eras", async () => {
    await using rig = await mcpRig();
    rig.runs.onStart = (run) => run.write(endWith({ content: [] }));
    await rig.send(modernCall({}, { headers: { traceparent: "00-1" } }));
    expect(rig.runs.last.order.origin).toMatchObject({ protocol: "2026-07-28", traceparent: "00-1" });
    await rig.send({ body: call(2), headers: { traceparent: "00-2" } });
    expect(rig.runs.last.order.origin).toMatchObject({ traceparent: "00-2" });
  });

  test("leaves behind headers about arguments that the tool does not name", async () => {
    await using rig = await mcpRig();
    rig.runs.onStart = (run) => run.write(endWith({ content: [] }));
    await rig.send(modernCall({}, { headers: { "Mcp-Param-Zone": "b" } }));
    expect(JSON.stringify(rig.runs.last.order.origin)).not.toContain("zone");
  });

  test("without an event before its end is answered as JSON, with one as a stream", async () => {
    await using rig = await mcpRig();
    rig.runs.onStart = (run) => {
      run.write({ type: "progress", payload: payload('{"progressToken":1,"progress":1}') });
      run.write(endWith({ content: [] }));
    };
    const answer = await rig.send(modernCall({}, { meta: { progressToken: "t" } }));
    expect(answer.headers["content-type"]).toBe("text/event-stream");
    const [first, last] = answer.text.trim().split("\n\n");
    expect(first).toBe(
      'data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}',
    );
    expect(last).toMatch(/^data: \{"jsonrpc":"2.0","id":1,"result"/);
    expect(answer.text).not.toContain("id: ");
    expect((await rig.send(modernCall())).headers["content-type"]).toBe("application/json");
  });

  test("hears logs only at or above the level it names", async () => {
    await using rig = await mcpRig();
    rig.runs.onStart = (run) => {
      for (const level of ["debug", "warning", "error"]) {
        run.write({ type: "log", payload: payload(`{"level":"${level}"}`) });
      }
      run.write(endWith({ content: [] }));
    };
    expect((await rig.send(modernCall())).text).not.toContain("notifications/message");
    const answer = await rig.send(modernCall({}, { logLevel: "warning" }));
    expect(answer.text).not.toContain("debug");
    expect(answer.text.match(/notifications\/message/g)).toHaveLength(2);
    expect(rig.catalog.notified).toMatchObject([
      { method: "logging/setLevel", input: { text: '{"level":"warning"}' } },
    ]);
  });

  test("is cancelled when the client goes away before the answer, and only then", async () => {
    await using rig = await mcpRig();
    const silent = new AbortController();
    rig.send(modernCall({}, { signal: silent.signal })).catch(() => undefined);
    await until(() => rig.runs.started.length === 1);
    silent.abort();
    await until(() => rig.runs.last.cancelled !== undefined);

    const stream = rig.open(modernCall({}, { meta: { progressToken: 1 } }));
    await until(() => rig.runs.started.length === 2);
    rig.runs.last.write({ type: "progress", payload: payload('{"progress":1}') });
    const open = await stream;
    await open.message(0);
    open.close();
    await until(() => rig.runs.last.cancelled !== undefined);

    rig.runs.onStart = (run) => run.write(endWith({}));
    await rig.send(modernCall());
    expect(rig.runs.last.cancelled).toBeUndefined();
  });

  test("is never made for a client that left while the lists were being prepared", async () => {
    await using rig = await mcpRig();
    const gate = Promise.withResolvers<void>();
    rig.catalog.gate = gate.promise;
    const whole = rig.catalog.current;
    rig.catalog.current = new FakeView(1, [okProvider("files")], []);
    const gone = new AbortController();
    rig.send(modernCall({}, { signal: gone.signal })).catch(() => undefined);
    await until(() => rig.catalog.entered === 1);
    gone.abort();
    await until(() => rig.connections() === 0);
    rig.catalog.current = whole;
    gate.resolve();
    rig.catalog.gate = undefined;
    rig.runs.onStart = (run) => run.write(endWith({}));
    await rig.send(modernCall());
    expect(rig.runs.started).toHaveLength(1);
  });

  test("is given to a client that takes no streams without what comes before its end", async () => {
    await using rig = await mcpRig();
    rig.runs.onStart = (run) => {
      run.write({ type: "progress", payload: payload('{"progress":1}') });
      run.write(endWith({ content: [] }));
    };
    const { body, headers } = modernCall({}, { meta: { progressToken: 1 } });
    const answer = await rig.send({ body: body as string, headers: { ...headers, accept: "application/json" } });
    expect(answer.json()).toMatchObject({ result: { resultType: "complete" } });
  });

  test("that is silent for long gets its stream all the same, and its answer there", async () => {
    await using rig = await mcpRig();
    const opening = rig.open(modernCall());
    await until(() => rig.runs.started.length === 1);
    rig.time.advance(15_000);
    const stream = await opening;
    rig.runs.last.write(endWith({ content: [] }));
    expect(await stream.message(0)).toMatchObject({ id: 1, result: { resultType: "complete" } });
  });

  test("waits for a client that reads slowly", async () => {
    await using rig = await mcpRig();
    const opening = rig.open(modernCall({}, { meta: { progressToken: 1 } }));
    await until(() => rig.runs.started.length === 1);
    const message = "x".repeat(64 * 1024);
    rig.runs.last.write({ type: "progress", payload: payload(jsonText({ progress: 0, message })) });
    const stream = await opening;
    stream.pause();
    for (let progress = 1; progress < 200; progress++) {
      rig.runs.last.write({ type: "progress", payload: payload(jsonText({ progress, message })) });
    }
    expect(rig.runs.last.waiting).toBeGreaterThan(0);
    rig.runs.last.write(endWith({ content: [] }));
    stream.resume();
    expect(await stream.message(200)).toMatchObject({ id: 1 });
  });

  test("does not end with a 2025 client's connection", async () => {
    await using rig = await mcpRig();
    const gone = new AbortController();
    const headers = await rig.initialize();
    rig.send({ body: call(1), headers, signal: gone.signal }).catch(() => undefined);
    await until(() => rig.runs.started.length === 1);
    gone.abort();
    await until(() => rig.connections() <= 1);
    expect(rig.runs.last.cancelled).toBeUndefined();
  });

  const faults: [string, object, number, number][] = [
    ["its own error, verbatim", { code: -32011, message: "m", data: [1] }, 200, -32011],
    ["a capability that is missing", { code: -32021, message: "m" }, 400, -32021],
  ];
  test.each(faults)("ends with %s", async (_what, error, status, code) => {
    await using rig = await mcpRig();
    const body = payload(jsonText(error));
    rig.runs.onStart = (run) => run.write({ type: "end", outcome: "fault", payload: body });
    const answer = await rig.send(modernCall());
    expect([answer.status, answer.json()]).toMatchObject([status, { id: 1, error: { ...error, code } }]);
  });

  test("ends with our own errors as the family has them", async () => {
    await using rig = await mcpRig();
    const error = new GatewayError("PROVIDER_UNREACHABLE");
    rig.runs.onStart = (run) => run.write({ type: "error", error });
    expect((await rig.send(modernCall())).json()).toMatchObject({
      result: {
        isError: true,
        resultType: "complete",
        _meta: { "dev.isthmus/error": { code: "PROVIDER_UNREACHABLE" } },
      },
    });
  });

  test("of a tool that is gone by now is a bad parameter", async () => {
    await using rig = await mcpRig();
    rig.runs.onStart = (run) => run.write({ type: "error", error: new GatewayError("NO_SUCH_TARGET") });
    const answer = await rig.send(modernCall());
    expect([answer.status, answer.json()]).toMatchObject([200, { error: { code: -32602 } }]);
  });

  test("without a method we know goes to the one server there is, and is unknown where that does not know it", async () => {
    await using rig = await mcpRig();
    rig.runs.onStart = (run) => run.write(endWith({ ok: 1 }));
    expect((await rig.send(modern("vendor/thing", { a: 1 }))).json()).toMatchObject({ result: { ok: 1 } });
    expect(rig.runs.last.order.input.text).toBe('{"a":1}');
    const error = payload('{"code":-32601,"message":"no"}');
    rig.runs.onStart = (run) => run.write({ type: "end", outcome: "fault", payload: error });
    const answer = await rig.send(modern("vendor/other"));
    expect([answer.status, answer.json()]).toMatchObject([404, { id: 1, error: { code: -32601 } }]);
    rig.catalog.current = new FakeView(2, [okProvider("one"), okProvider("two")], []);
    expect((await rig.send(modern("vendor/other"))).status).toBe(404);
    expect(rig.runs.started).toHaveLength(2);
  });
});

describe("a resource", () => {
  const view = () => new FakeView(1, [okProvider("one")], [{ kind: "resource", name: "a:b" }]);

  test("that its server does not find is a bad parameter that names it", async () => {
    await using rig = await mcpRig({ view: view() });
    const error = payload('{"code":-32002,"message":"gone","data":{"x":1}}');
    rig.runs.onStart = (run) => run.write({ type: "end", outcome: "fault", payload: error });
    const answer = await rig.send(modern("resources/read", { uri: "a:b" }));
    expect([answer.status, answer.json()]).toEqual([
      200,
      { jsonrpc: "2.0", id: 1, error: { code: -32602, message: "gone", data: { x: 1, uri: "a:b" } } },
    ]);
  });

  test("says how long it holds", async () => {
    await using rig = await mcpRig({ view: view() });
    rig.runs.onStart = (run) => run.write(endWith({ contents: [] }));
    const answer = await rig.send(modern("resources/read", { uri: "a:b" }));
    expect(answer.json().result).toMatchObject({ contents: [], ttlMs: 0, cacheScope: "private" });
  });
});

test("a call of a server that is ready goes at once while another one is still starting", async () => {
  await using rig = await mcpRig();
  rig.catalog.gate = new Promise<void>(() => undefined);
  rig.runs.onStart = (run) => run.write(endWith({ content: [] }));
  expect((await rig.send(modernCall({}))).json()).toMatchObject({ id: 1, result: { content: [] } });
});
