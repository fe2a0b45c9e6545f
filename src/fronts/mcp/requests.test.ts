import { describe, expect, test } from "vitest";
import { FakeView, okProvider } from "../../../tests/kit/fake-catalog.ts";
import { call, endWith, mcpRig, until } from "../../../tests/kit/mcp-rig.ts";
import { payload } from "../../contract/index.ts";

const VIEW = new FakeView(
  1,
  [okProvider("files"), okProvider("crm")],
  [
    { kind: "tool", name: "files.echo", own: "echo" },
    { kind: "prompt", name: "files.greet", own: "greet" },
    { kind: "resource", name: "crm+doc://a", own: "doc://a", provider: "crm" },
    { kind: "template", name: "doc://{id}" },
  ],
);

const ask = (method: string, params: object = {}) => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });

describe("names", () => {
  test.each([
    ["tools/call", { name: "nope" }, -32601],
    ["prompts/get", { name: "nope" }, -32602],
    ["resources/read", { uri: "doc://nope" }, -32002],
    ["resources/subscribe", { uri: "doc://nope" }, -32002],
    ["completion/complete", { ref: { type: "ref/prompt", name: "nope" } }, -32602],
    ["tools/call", { name: 5 }, -32602],
    ["tools/call", {}, -32602],
    ["completion/complete", { ref: { type: "constructor" } }, -32602],
  ])("of %s that nobody knows (%o) give %d", async (method, params, code) => {
    await using rig = await mcpRig({ view: VIEW });
    expect((await rig.send({ body: ask(method, params) })).json()).toMatchObject({ id: 1, error: { code } });
  });

  test.each([
    ["prompts/get", { a: 1, name: "files.greet", b: 2 }, '{"a":1,"name":"greet","b":2}', "get"],
    ["resources/read", { uri: "crm+doc://a" }, '{"uri":"doc://a"}', "read"],
    [
      "completion/complete",
      { ref: { type: "ref/prompt", name: "files.greet" } },
      '{"ref":{"type":"ref/prompt","name":"greet"}}',
      "complete",
    ],
    [
      "completion/complete",
      { ref: { type: "ref/resource", uri: "doc://{id}" } },
      '{"ref":{"type":"ref/resource","uri":"doc://{id}"}}',
      "complete",
    ],
  ])("of %s go to the provider as it spells them", async (method, params, input, verb) => {
    await using rig = await mcpRig({ view: VIEW });
    rig.runs.onStart = (run) => run.write(endWith({}));
    await rig.send({ body: ask(method, params) });
    expect([rig.runs.last.order.verb, rig.runs.last.order.input.text]).toEqual([verb, input]);
  });
});

test("an unknown tool is an unknown method [AX-078]", async () => {
  await using rig = await mcpRig({ view: VIEW });
  const answer = await rig.send({ body: ask("tools/call", { name: "no.such.tool" }) });
  expect(answer.json()).toMatchObject({ id: 1, error: { code: -32601 } });
});

describe("subscriptions", () => {
  test("are bounded in number and length", async () => {
    const entries = Array.from({ length: 1001 }, (_, n) => ({ kind: "resource", name: `doc://${n}` }) as const);
    const long = { kind: "resource", name: `doc://${"x".repeat(8200)}` } as const;
    await using rig = await mcpRig({ view: new FakeView(1, [okProvider("files")], [...entries, long]) });
    rig.runs.onStart = (run) => run.write(endWith({}));
    const headers = await rig.initialize();
    const send = async (uri: string) => (await rig.send({ headers, body: ask("resources/subscribe", { uri }) })).json();
    expect(await send(long.name)).toMatchObject({ error: { code: -32602 } });
    for (const { name } of entries.slice(0, 1000)) await send(name);
    expect(await send("doc://1000")).toMatchObject({ error: { code: -32602 } });
  });
});

describe("a method nobody here knows", () => {
  test("goes to the one server behind the view, params untouched", async () => {
    await using rig = await mcpRig();
    rig.runs.onStart = (run) => run.write(endWith({ a: 1 }));
    const body = '{"jsonrpc":"2.0","id":1,"method":"x/y","params":{"p":[1e2]},"extra":true}';
    expect((await rig.send({ body })).json()).toMatchObject({ result: { a: 1 } });
    expect(rig.runs.last.order).toMatchObject({ verb: "raw", method: "x/y", input: { text: '{"p":[1e2]}' } });
  });

  test.each(["x/y", "__proto__", "constructor"])("is not found among several servers: %s", async (method) => {
    await using rig = await mcpRig({ view: VIEW });
    expect((await rig.send({ body: ask(method) })).json()).toMatchObject({ error: { code: -32601 } });
  });

  test("is never relayed when it would let a server speak for the gateway", async () => {
    await using rig = await mcpRig();
    expect((await rig.send({ body: ask("server/discover") })).json()).toMatchObject({ error: { code: -32601 } });
    expect(rig.runs.started).toEqual([]);
  });

  test.each([
    ["x/event", 1, ["x/event"]],
    ["x/event", 2, []],
    ["notifications/x", 2, ["notifications/x"]],
    ["tools/call", 1, []],
    ["Tools/Call", 1, []],
  ])("or a request without an id, %s, with %d servers behind, is relayed as %j", async (method, servers, relayed) => {
    const view = new FakeView(1, [okProvider("files"), okProvider("crm")].slice(0, servers), []);
    await using rig = await mcpRig({ view });
    const headers = await rig.initialize();
    const body = JSON.stringify({ jsonrpc: "2.0", method, params: { name: "echo" } });
    expect((await rig.send({ headers, body })).status).toBe(202);
    expect(rig.catalog.notified.map((one) => one.method)).toEqual(relayed);
  });

  test("as a notification goes to the providers of the catalog", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize();
    const body = '{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}';
    expect((await rig.send({ headers, body })).status).toBe(202);
    expect(rig.catalog.notified).toMatchObject([{ method: "notifications/roots/list_changed" }]);
  });

  test.each([
    ["notifications/x", []],
    ["notifications/tasks/status", []],
    ["x/event", []],
    ["notifications/roots/list_changed", ["notifications/roots/list_changed"]],
  ])("without an id, %s, where not all is shown, is passed on as %j, without its params", async (method, relayed) => {
    const view = Object.assign(new FakeView(1, [okProvider("files")], []), { isPartial: true });
    await using rig = await mcpRig({ view });
    const headers = await rig.initialize();
    const body = JSON.stringify({ jsonrpc: "2.0", method, params: { path: "/x" } });
    expect((await rig.send({ headers, body })).status).toBe(202);
    expect(rig.catalog.notified.map((one) => one.method)).toEqual(relayed);
    expect(rig.catalog.notified.map((one) => one.input.text).join("")).toBe("");
    expect(rig.refused.map(({ reason, name }) => [reason, name])).toEqual(
      relayed.length > 0 ? [] : [["method", method]],
    );
  });
});

describe("tasks", () => {
  const TASK = {
    id: "t-1",
    principal: { id: "local" },
    target: { provider: "files", kind: "tool", name: "echo" },
  } as const;

  test("are spoken about with the provider that runs them", async () => {
    await using rig = await mcpRig();
    rig.runs.tasks.push({ ...TASK, expiresAt: 500_000 });
    rig.runs.onStart = (run) => run.write(endWith({ taskId: "t-1", status: "working" }));
    const headers = await rig.initialize();
    for (const method of ["tasks/get", "tasks/result", "tasks/cancel"]) {
      expect((await rig.send({ headers, body: ask(method, { taskId: "t-1" }) })).json()).toMatchObject({ result: {} });
      expect(rig.runs.last.order).toMatchObject({
        verb: "raw",
        method,
        resumes: "t-1",
        input: { text: '{"taskId":"t-1"}' },
      });
    }
    expect(rig.runs.started[1]?.order.timeoutMs).toBe(499_000);
  });

  test("of others, and unknown ones, do not exist", async () => {
    await using rig = await mcpRig();
    rig.runs.tasks.push({ ...TASK, principal: { id: "other" }, expiresAt: 1 });
    const headers = await rig.initialize();
    for (const taskId of ["t-1", "t-2"]) {
      const answer = await rig.send({ headers, body: ask("tasks/get", { taskId }) });
      expect(answer.json()).toMatchObject({
        error: { code: -32602, message: "Failed to retrieve task: Task not found" },
      });
    }
  });

  test("are listed newest first, without those whose server does not answer", async () => {
    await using rig = await mcpRig();
    for (const id of ["a", "b", "c"]) rig.runs.tasks.push({ ...TASK, id, expiresAt: 1 });
    rig.runs.onStart = (run) => {
      const { taskId } = run.order.input.value() as { taskId: string };
      if (taskId === "b") run.write({ type: "end", outcome: "fault", payload: payload('{"code":1,"message":"x"}') });
      else run.write(endWith({ taskId }));
    };
    const answer = await rig.send({ headers: await rig.initialize(), body: ask("tasks/list") });
    expect(answer.json()).toMatchObject({ result: { tasks: [{ taskId: "c" }, { taskId: "a" }] } });
  });

  test("are unknown words to an older revision", async () => {
    await using rig = await mcpRig({ view: VIEW });
    const headers = await rig.initialize("2025-06-18");
    expect((await rig.send({ headers, body: ask("tasks/list") })).json()).toMatchObject({ error: { code: -32601 } });
  });
});

describe("a batch on 2025-03-26", () => {
  const PING = '{"jsonrpc":"2.0","id":"p","method":"ping"}';

  test("is answered as one array", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize("2025-03-26");
    rig.runs.onStart = (run) => run.write(endWith({}));
    const body = `[${PING},{"jsonrpc":"2.0","method":"notifications/initialized"},${call(2)},{"id":9}]`;
    const answer = await rig.send({ headers, body });
    expect(JSON.parse(answer.text)).toMatchObject([
      { id: "p", result: {} },
      { id: 2, result: {} },
      { id: 9, error: { code: -32600 } },
    ]);
  });

  test("becomes one stream when anything must go out before the answers", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize("2025-03-26");
    const opening = rig.open({ headers, body: `[${PING},${call(2, {}, { _meta: { progressToken: 5 } })}]` });
    await until(() => rig.runs.started.length === 1);
    rig.runs.last.write({ type: "progress", payload: payload('{"progressToken":1,"progress":1}') });
    rig.runs.last.write(endWith({}));
    const stream = await opening;
    await stream.ended();
    expect(stream.events.map((event) => JSON.parse(event.data).id ?? "progress")).toEqual(["p", "progress", 2]);
  });

  test("of notifications is accepted", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize("2025-03-26");
    const answer = await rig.send({ headers, body: '[{"jsonrpc":"2.0","method":"notifications/initialized"}]' });
    expect([answer.status, answer.text]).toEqual([202, ""]);
  });

  test("must not hold initialize, and must hold something", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize("2025-03-26");
    for (const body of [`[${PING},{"jsonrpc":"2.0","id":1,"method":"initialize"}]`, "[]"]) {
      const answer = await rig.send({ headers, body });
      expect([answer.status, answer.json()]).toMatchObject([400, { error: { code: -32600 } }]);
    }
  });
});

describe("while a server is still starting", () => {
  const never = new Promise<void>(() => undefined);

  test("a call of another one that is offered goes at once", async () => {
    await using rig = await mcpRig({ view: VIEW });
    rig.catalog.gate = never;
    rig.runs.onStart = (run) => run.write(endWith({ content: [] }));
    const answer = await rig.send({ body: ask("tools/call", { name: "files.echo" }) });
    expect(answer.json()).toMatchObject({ id: 1, result: { content: [] } });
  });

  test.each([
    ["a call of what nobody offers yet", "tools/call", { name: "late.tool" }],
    ["a list", "tools/list", {}],
  ])("%s waits for it", async (_, method, params) => {
    await using rig = await mcpRig({ view: VIEW });
    const { promise, resolve } = Promise.withResolvers<void>();
    rig.catalog.gate = promise;
    let isAnswered = false;
    const answered = rig.send({ body: ask(method, params) }).then(() => {
      isAnswered = true;
    });
    await until(() => rig.catalog.entered === 1);
    expect(isAnswered).toBe(false);
    resolve();
    await answered;
  });
});
