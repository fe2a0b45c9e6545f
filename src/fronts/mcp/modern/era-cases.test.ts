import { describe, expect, test } from "vitest";
import { type FakePrimitive, FakeView, okProvider } from "../../../../tests/kit/fake-catalog.ts";
import { call, endWith, mcpRig, until } from "../../../../tests/kit/mcp-rig.ts";
import { META, modern, modernBody, modernCall } from "../../../../tests/kit/modern-client.ts";
import { ALL, ask, roundRig } from "../../../../tests/kit/round-rig.ts";
import { type CallEvent, jsonText, payload } from "../../../contract/index.ts";

const VERSION = { "mcp-protocol-version": "2026-07-28" };
const PROGRESS: CallEvent = { type: "progress", payload: payload('{"progressToken":9,"progress":1}') };

describe("the envelope", () => {
  test.each([
    ["no params", { jsonrpc: "2.0", id: 1, method: "tools/list" }],
    ["no _meta", { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }],
    ["an empty _meta", { jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: {} } }],
    ["a _meta that is no object", { jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: "x" } }],
  ])("is missed by a request of this version that has %s", async (_what, message) => {
    await using rig = await mcpRig();
    const headers = { ...VERSION, "mcp-method": "tools/list" };
    const answer = await rig.send({ body: JSON.stringify(message), headers });
    expect([answer.status, answer.json()]).toMatchObject([400, { id: 1, error: { code: -32602 } }]);
  });

  test("may do without the client's name", async () => {
    await using rig = await mcpRig();
    const answer = await rig.send(modern("tools/list", {}, { meta: { [`${META}clientInfo`]: undefined } }));
    expect([answer.status, answer.json()]).toMatchObject([200, { result: { resultType: "complete" } }]);
  });

  test("is read however its keys are spelled, and does not go on", async () => {
    await using rig = await mcpRig();
    rig.runs.onStart = (run) => run.write(endWith({ content: [] }));
    const sent = modernCall({ a: 1 });
    const spelled = String(sent.body).replaceAll(META, "io.modelcontextprotocol\\/");
    const answer = await rig.send({ ...sent, body: spelled.replace("clientCap", "\\u0063lientCap") });
    expect(answer.json()).toMatchObject({ result: { resultType: "complete" } });
    expect(rig.runs.last.order).toMatchObject({ origin: { protocol: "2026-07-28" } });
    expect(rig.runs.last.order.input.value()).toEqual({ name: "echo", arguments: { a: 1 } });
    const { headers } = await rig.send({ body: spelled });
    expect(headers["content-type"]).toBe("application/json");
    expect((await rig.send({ body: spelled })).json()).toMatchObject({ error: { code: -32020 } });
  });

  test("is refused when a key of it comes twice, in two spellings", async () => {
    await using rig = await mcpRig();
    const key = `"${META}protocolVersion":"2026-07-28"`;
    const body = modernBody("tools/list").replace(key, `${key},${key.replace("/", "\\/")}`);
    const answer = await rig.send({ ...modern("tools/list"), body });
    expect([answer.status, answer.json()]).toMatchObject([400, { id: 1, error: { code: -32600 } }]);
  });
});

describe("progress", () => {
  test.each([["text"], [7], [0], [1.5]])(
    "comes under the token %j in both eras, and never after the answer",
    async (progressToken) => {
      await using rig = await mcpRig();
      rig.runs.onStart = (run) => {
        run.write(PROGRESS);
        run.write(endWith({ content: [] }));
        run.write(PROGRESS);
      };
      const headers = await rig.initialize();
      for (const sent of [
        modernCall({}, { meta: { progressToken } }),
        { headers, body: call(1, {}, { _meta: { progressToken } }) },
      ]) {
        const stream = await rig.open(sent);
        await stream.ended();
        const messages = stream.events.filter(({ data }) => data !== "").map(({ data }) => JSON.parse(data));
        expect(messages).toMatchObject([
          { method: "notifications/progress", params: { progressToken, progress: 1 } },
          { id: 1, result: { content: [] } },
        ]);
        expect(messages).toHaveLength(2);
      }
    },
  );
});

describe("a cancel", () => {
  test("by notification is taken over HTTP, and ends nothing: there the stream is what counts", async () => {
    await using rig = await mcpRig();
    const calling = rig.open(modernCall({}, { id: 0, meta: { progressToken: 1 } }));
    await until(() => rig.runs.started.length === 1);
    rig.runs.last.write(PROGRESS);
    const stream = await calling;
    for (const requestId of [0, 0, "0", 77]) {
      const body = JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });
      expect((await rig.send({ body, headers: VERSION })).status).toBe(202);
    }
    expect(rig.runs.last.cancelled).toBeUndefined();
    stream.close();
    await until(() => rig.runs.last.cancelled !== undefined);
  });
});

describe("a question", () => {
  test("during a completion is answered negatively, and what comes is given", async () => {
    await using rig = await roundRig();
    rig.catalog.current = new FakeView(2, [okProvider("one")], [{ kind: "prompt", name: "p" }]);
    rig.runs.onStart = (run) => {
      run.onReply = () => run.write(endWith({ completion: { values: ["a"] } }));
      run.write({ type: "ask", asks: [ask("q1")] });
    };
    const params = { ref: { type: "ref/prompt", name: "p" }, argument: { name: "x", value: "" } };
    const answer = await rig.send(modern("completion/complete", params, { capabilities: ALL }));
    expect(answer.json()).toMatchObject({ result: { resultType: "complete", completion: { values: ["a"] } } });
    expect(rig.runs.last.replies).toMatchObject([{ answers: [{ payload: { text: '{"action":"cancel"}' } }] }]);
  });

  test("leaves nothing that says how long its answer holds, in a read that was asked about", async () => {
    await using rig = await roundRig();
    rig.catalog.current = new FakeView(2, [okProvider("one")], [{ kind: "resource", name: "a:b" }]);
    const read = (more: object = {}) => modern("resources/read", { uri: "a:b", ...more }, { capabilities: ALL });
    const { requestState, ...asked } = await rig.asked(read(), [ask("q1")]);
    expect(asked).not.toHaveProperty("ttlMs");
    expect(asked).not.toHaveProperty("cacheScope");
    rig.runs.last.onReply = () => rig.runs.last.write(endWith({ contents: [{ uri: "a:b", text: "x" }] }));
    const done = await rig.send(read({ requestState, inputResponses: { q1: { action: "accept" } } }));
    expect(done.json()).toMatchObject({ result: { ttlMs: 0, cacheScope: "private" } });
  });
});

describe("listeners on one resource", () => {
  test("hear of it until each leaves; the server is told when the last has", async () => {
    const resource: FakePrimitive = { kind: "resource", name: "a:1" };
    const capabilities = '{"resources":{"subscribe":true}}';
    await using rig = await mcpRig({ view: new FakeView(1, [okProvider("one", capabilities)], [resource]) });
    rig.runs.onStart = (run) => run.write(endWith({}));
    const listen = (id: number) =>
      rig.open(modern("subscriptions/listen", { notifications: { resourceSubscriptions: ["a:1"] } }, { id }));
    const update = () => {
      const method = "notifications/resources/updated";
      rig.sessions.notice({ from: "one", to: { resource: "a:1" }, method, payload: payload('{"uri":"a:1"}') });
    };
    const methods = () => rig.runs.started.map(({ order }) => order.method);
    const [first, second] = [await listen(1), await listen(2)];
    await first.message(0);
    await second.message(0);
    first.close();
    await until(() => rig.connections() === 1);
    update();
    expect(await second.message(1)).toMatchObject({ params: { uri: "a:1", _meta: { [`${META}subscriptionId`]: 2 } } });
    expect(methods()).toEqual(["resources/subscribe"]);
    second.close();
    await until(() => rig.runs.started.length === 2);
    expect(methods()).toEqual(["resources/subscribe", "resources/unsubscribe"]);
  });
});

describe("a resource that does not exist", () => {
  // What a template matches is not listed, so nobody knows whether it is there.
  const view = () => new FakeView(1, [okProvider("one")], [{ kind: "resource", name: "a:b", definition: "{}" }]);

  test.each([
    ["empty contents", endWith({ contents: [] })],
    ["-32002", { type: "end", outcome: "fault", payload: payload('{"code":-32002,"message":"m"}') } as const],
    [
      "-32602",
      {
        type: "end",
        outcome: "fault",
        payload: payload('{"code":-32602,"message":"m","data":{"uri":"a:b"}}'),
      } as const,
    ],
  ])("is a bad parameter that names it, when its server says so with %s", async (_what, end) => {
    await using rig = await mcpRig({ view: view() });
    rig.runs.onStart = (run) => run.write(end);
    const answer = await rig.send(modern("resources/read", { uri: "a:b" }));
    expect([answer.status, answer.json()]).toMatchObject([200, { error: { code: -32602, data: { uri: "a:b" } } }]);
  });
});

describe("the name header", () => {
  test("may be in base64, and must then say the same", async () => {
    await using rig = await mcpRig({ view: new FakeView(1, [okProvider("one")], [{ kind: "tool", name: "größe" }]) });
    rig.runs.onStart = (run) => run.write(endWith({}));
    const header = (text: string) => `=?base64?${Buffer.from(text).toString("base64")}?=`;
    const send = (name: string) =>
      rig.send(modern("tools/call", { name: "größe" }, { headers: { "mcp-name": header(name) } }));
    expect((await send("größe")).json()).toMatchObject({ result: { resultType: "complete" } });
    const wrong = await send("große");
    expect([wrong.status, wrong.json()]).toMatchObject([400, { error: { code: -32020 } }]);
  });
});

describe("a cursor", () => {
  test("is not valid for another list than the one it was given for, whoever brings it", async () => {
    const view = (...names: string[]) =>
      new FakeView(
        1,
        [okProvider("one")],
        names.map((name) => ({ kind: "tool", name })),
      );
    await using rig = await mcpRig({ config: { pageSize: 2 }, view: view("a", "b", "c") });
    const first = (await rig.send(modern("tools/list"))).json<{ result: { nextCursor: string } }>().result;
    const next = () => rig.send(modern("tools/list", { cursor: first.nextCursor }, { capabilities: { roots: {} } }));
    expect((await next()).json()).toMatchObject({ result: { tools: [{ name: "c" }] } });
    // Another process has another object for the same list.
    rig.catalog.current = view("a", "b", "c");
    expect((await next()).json()).toMatchObject({ result: { tools: [{ name: "c" }] } });
    rig.catalog.current = view("a", "b", "d");
    expect((await next()).json()).toMatchObject({ error: { code: -32602 } });
    expect(jsonText(first.nextCursor)).not.toContain("tool");
  });
});
