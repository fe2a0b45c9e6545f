/** A client of the 2025 era, the gateway, and a server of 2026-07-28. */
import { describe, expect, test } from "vitest";
import type { Exchange, Handler } from "../../../src/providers/mcp/fixtures/http-server.ts";
import { complete, envelopeOf, META, startModern } from "../../../src/providers/mcp/fixtures/modern-http.ts";
import { EventStream } from "../../hostile/kit/event-stream.ts";
import { openSession, post, toolCall } from "../kit/rpc.ts";
import { gatewayTo, resultOf, sendModern, until } from "./kit.ts";

const FORM = { method: "elicitation/create", params: { message: "Go?", requestedSchema: { type: "object" } } };
const wants = (exchange: Exchange, inputRequests: object) =>
  exchange.result({ resultType: "input_required", inputRequests, requestState: "s" });

async function setUp(on: Record<string, Handler> = {}, more?: string) {
  const server = await startModern(on);
  const gateway = await gatewayTo(server.url, more);
  return {
    server,
    url: gateway.url,
    calls: () => server.seen.filter(({ rpc }) => rpc.method === "tools/call"),
    async [Symbol.asyncDispose]() {
      await gateway.stop();
      await server.stop();
    },
  };
}

describe("a client of the 2025 era before a server of 2026-07-28", () => {
  test("opens sessions without a word to the server, which never sees one", async () => {
    await using rig = await setUp();
    await openSession(rig.url);
    const before = rig.server.count("server/discover");
    const sessions = [await openSession(rig.url), await openSession(rig.url)];
    const ids = sessions.map((session) => session["mcp-session-id"]);
    expect([new Set(ids).size, ids.every(Boolean)]).toEqual([2, true]);
    expect(rig.server.count("server/discover")).toBe(before);
    await post(rig.url, toolCall(1, "echo", {}), sessions[0]);
    expect(rig.calls()).toHaveLength(1);
    expect(rig.server.seen.some(({ headers }) => headers["mcp-session-id"] !== undefined)).toBe(false);
    expect(rig.server.count("initialize")).toBe(0);
  });

  test("sees nothing of what that era adds to results", async () => {
    const cached = (result: object) => ({ ...complete(result), ttlMs: 5000, cacheScope: "public" });
    await using rig = await setUp({
      "resources/list": (exchange) => exchange.result(cached({ resources: [{ uri: "a:b", name: "b" }] })),
      "resources/read": (exchange) => exchange.result(cached({ contents: [{ uri: "a:b", text: "x" }] })),
      "prompts/list": (exchange) => exchange.result(cached({ prompts: [{ name: "p" }] })),
      "prompts/get": (exchange) => exchange.result(complete({ messages: [] })),
      "completion/complete": (exchange) => exchange.result(complete({ completion: { values: [] } })),
    });
    const session = await openSession(rig.url);
    const requests: [string, object][] = [
      ["tools/list", {}],
      ["resources/list", {}],
      ["prompts/list", {}],
      ["resources/read", { uri: "a:b" }],
      ["prompts/get", { name: "p" }],
      ["completion/complete", { ref: { type: "ref/prompt", name: "p" }, argument: { name: "a", value: "" } }],
      ["tools/call", { name: "echo", arguments: {} }],
    ];
    for (const [method, params] of requests) {
      const text = JSON.stringify(resultOf(await post(rig.url, { id: 1, method, params }, session)));
      for (const word of ["resultType", "ttlMs", "cacheScope", `${META}serverInfo`])
        expect([method, text.includes(word)]).toEqual([method, false]);
    }
  });

  test.each([["text"], [7], [0]])("gets progress under its own token %j, and none after the answer", async (token) => {
    await using rig = await setUp({
      "tools/call": (exchange) => {
        const params = { progressToken: exchange.progressToken, progress: 1 };
        exchange.stream().event({ jsonrpc: "2.0", method: "notifications/progress", params });
        exchange.event({ jsonrpc: "2.0", id: exchange.message.id, result: complete({ content: [] }) });
        exchange.event({ jsonrpc: "2.0", method: "notifications/progress", params: { ...params, progress: 2 } });
        exchange.end();
      },
    });
    const session = await openSession(rig.url);
    const { messages } = await post(rig.url, toolCall(1, "echo", {}, { progressToken: token }), session);
    expect(messages).toMatchObject([{ params: { progressToken: token, progress: 1 } }, { id: 1, result: {} }]);
    expect(messages).toHaveLength(2);
  });

  test("cancels by a word, and the server sees its stream closed", async () => {
    const closed = Promise.withResolvers<void>();
    await using rig = await setUp({
      "tools/call": (exchange) => void exchange.stream().response.on("close", () => closed.resolve()),
    });
    const session = await openSession(rig.url);
    const calling = post(rig.url, toolCall(0, "echo", {}), session).catch(() => undefined);
    await until(() => rig.calls().length === 1);
    const cancel = { method: "notifications/cancelled", params: { requestId: 0 } };
    expect((await post(rig.url, cancel, session)).status).toBe(202);
    await closed.promise;
    await calling;
    expect(rig.server.count("notifications/cancelled")).toBe(0);
  });

  test("loses its stream: the call goes on, and its result is there when it comes back", async () => {
    const open = Promise.withResolvers<Exchange>();
    await using rig = await setUp({ "tools/call": (exchange) => open.resolve(exchange.stream()) });
    const session = await openSession(rig.url);
    const message = toolCall(1, "echo", {}, { progressToken: 1 });
    const opening = EventStream.open(rig.url, { method: "POST", message, headers: session });
    const call = await open.promise;
    const params = { progressToken: call.progressToken, progress: 1 };
    call.event({ jsonrpc: "2.0", method: "notifications/progress", params });
    const first = await opening;
    await first.message(({ method }) => method === "notifications/progress");
    first.cut();
    const headers = { ...session, "last-event-id": first.lastId ?? "" };
    using again = await EventStream.open(rig.url, { method: "GET", headers });
    call.event({ jsonrpc: "2.0", id: call.message.id, result: complete({ content: [], late: true }) });
    call.end();
    expect(await again.message(({ id }) => id === 1)).toMatchObject({ result: { late: true } });
    expect(rig.calls()).toHaveLength(1);
  });

  test("continues a trace, and its other _meta survives both ways", async () => {
    const foreign = {
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      "vendor/x": { a: [1, "ü"] },
    };
    await using rig = await setUp({
      "tools/call": (exchange) =>
        exchange.result({ resultType: "complete", content: [], _meta: { "vendor/y": 1, [`${META}serverInfo`]: {} } }),
    });
    const result = resultOf(await post(rig.url, toolCall(1, "echo", {}, foreign), await openSession(rig.url)));
    expect(result._meta).toEqual({ "vendor/y": 1 });
    const { traceparent, ...sent } = envelopeOf(rig.calls()[0]?.rpc ?? {});
    expect(sent).toMatchObject({ "vendor/x": foreign["vendor/x"] });
    expect(String(traceparent).slice(0, 36)).toBe(foreign.traceparent.slice(0, 36));
  });

  test("may use methods of the server's own, and send it notifications of its own", async () => {
    await using rig = await setUp({
      "vendor/thing": (exchange) => exchange.result(complete({ got: exchange.message.params?.a })),
      "notifications/vendor": (exchange) => exchange.raw("", 202, {}),
      "tools/call": (exchange) => {
        exchange.stream().event({ jsonrpc: "2.0", method: "notifications/vendor", params: { b: 2 } });
        exchange.event({ jsonrpc: "2.0", id: exchange.message.id, result: complete({ content: [] }) });
        exchange.end();
      },
    });
    // One that can be asked: its notifications have a session of their own to go to.
    const session = await openSession(rig.url, { roots: {} });
    expect(resultOf(await post(rig.url, { id: 1, method: "vendor/thing", params: { a: 1 } }, session))).toEqual({
      got: 1,
    });
    const { headers } = rig.server.seen.find(({ rpc }) => rpc.method === "vendor/thing") ?? {};
    expect(headers).toMatchObject({ "mcp-method": "vendor/thing" });
    const notice = { method: "notifications/vendor", params: { c: 3 } };
    expect((await post(rig.url, notice, session)).status).toBe(202);
    await until(() => rig.server.count("notifications/vendor") === 1);
    const sent = rig.server.seen.find(({ rpc }) => rpc.method === "notifications/vendor")?.rpc.params;
    expect(sent).toMatchObject({ c: 3, _meta: { [`${META}protocolVersion`]: "2026-07-28" } });
    const { messages } = await post(rig.url, toolCall(2, "echo", {}), session);
    expect(messages[0]).toMatchObject({ method: "notifications/vendor", params: { b: 2 } });
    const unknown = await post(rig.url, { id: 1, method: "vendor/other" }, session);
    expect([unknown.status, unknown.messages[0]?.error?.code]).toEqual([200, -32601]);
  });
});

describe("a question of a 2026 server to a client of the 2025 era", () => {
  const asking: Record<string, Handler> = {
    "tools/call": (exchange) => wants(exchange, { q: FORM }),
    "prompts/list": (exchange) => exchange.result(complete({ prompts: [{ name: "p" }] })),
    "prompts/get": (exchange) => wants(exchange, { q: FORM }),
  };

  test("that has not declared it ends the call with words on what is missing, in the family's way", async () => {
    await using rig = await setUp(asking);
    const session = await openSession(rig.url, { roots: {} });
    const tool = resultOf(await post(rig.url, toolCall(1, "ask", {}), session));
    expect(tool).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("elicitation") }] });
    const prompt = await post(rig.url, { id: 2, method: "prompts/get", params: { name: "p" } }, session);
    expect(prompt.messages[0]?.error).toMatchObject({ code: -32603, message: expect.stringContaining("elicitation") });
  });

  test("that refuses it ends the call so, and the server is not called again", async () => {
    await using rig = await setUp(asking);
    const session = await openSession(rig.url, { elicitation: {} });
    for (const [message, expected] of [
      [toolCall(1, "ask", {}), { result: { isError: true } }],
      [{ id: 1, method: "prompts/get", params: { name: "p" } }, { error: { code: -32603 } }],
    ] as const) {
      using stream = await EventStream.open(rig.url, { method: "POST", message, headers: session });
      const { id } = await stream.message(({ method }) => method === "elicitation/create");
      await post(rig.url, { id, error: { code: -1, message: "no" } }, session);
      expect(await stream.message((one) => one.id === 1 && one.method === undefined)).toMatchObject(expected);
    }
    expect(rig.calls()).toHaveLength(1);
    expect(rig.server.count("prompts/get")).toBe(1);
  });

  test("that takes only JSON and listens nowhere ends the call at once", async () => {
    await using rig = await setUp(asking);
    const session = { ...(await openSession(rig.url, { elicitation: {} })), accept: "application/json" };
    expect(resultOf(await post(rig.url, toolCall(1, "ask", {}), session))).toMatchObject({ isError: true });
    const ephemeral = await post(rig.url, toolCall(1, "ask", {}));
    expect(resultOf(ephemeral)).toMatchObject({ isError: true });
  });

  test("whose stream is cut meanwhile is put to it again when it comes back, once, and the call completes", async () => {
    await using rig = await setUp({
      "tools/call": (exchange) =>
        exchange.message.params?.inputResponses
          ? exchange.result(complete({ content: [], done: true }))
          : wants(exchange, { q: FORM }),
    });
    const session = await openSession(rig.url, { elicitation: {} });
    const message = toolCall(1, "ask", {});
    const first = await EventStream.open(rig.url, { method: "POST", message, headers: session });
    const { id: place } = await first.first();
    const question = await first.message(({ method }) => method === "elicitation/create");
    first.cut();
    const headers = { ...session, "last-event-id": place ?? "" };
    using again = await EventStream.open(rig.url, { method: "GET", headers });
    expect(await again.message(({ method }) => method === "elicitation/create")).toEqual(question);
    await post(rig.url, { id: question.id, result: { action: "accept" } }, session);
    expect(await again.message(({ result }) => result !== undefined)).toMatchObject({ id: 1, result: { done: true } });
    expect(again.messages.filter(({ method }) => method === "elicitation/create")).toHaveLength(1);
    expect(rig.calls()).toHaveLength(2);
  });

  test("whose session ends meanwhile is forgotten, and the server never called again", async () => {
    await using rig = await setUp(asking);
    const session = await openSession(rig.url, { elicitation: {} });
    const message = toolCall(1, "ask", {});
    using stream = await EventStream.open(rig.url, { method: "POST", message, headers: session });
    const { id } = await stream.message(({ method }) => method === "elicitation/create");
    expect((await fetch(rig.url, { method: "DELETE", headers: session })).status).toBe(200);
    await until(() => stream.isEnded);
    const late = await post(rig.url, { id, result: { action: "accept" } }, session);
    expect(late.status).toBe(404);
    // The gateway has nothing open any more: another client's call is served, and no retry came in between.
    await post(rig.url, toolCall(2, "ask", {}), await openSession(rig.url));
    expect(rig.calls().map(({ rpc }) => rpc.params?.inputResponses)).toEqual([undefined, undefined]);
    const metrics = await (await fetch(new URL("/metrics", rig.url))).text();
    expect(metrics).toMatch(/isthmus_runs_open(\{[^}]*\})? 0/);
  });
});

describe("a client of 2026-07-28 before a server of its own era", () => {
  test("has its names rewritten to the server's own, in the body and in the header", async () => {
    await using rig = await setUp(
      {
        "tools/list": (exchange) =>
          exchange.result(complete({ tools: [{ name: "größe", inputSchema: { type: "object" } }] })),
      },
      'prefix = "eu"',
    );
    const answer = await sendModern(rig.url, "tools/call", { name: "eu.gr__e", arguments: {} });
    expect(resultOf(answer).resultType).toBe("complete");
    const [call] = rig.calls();
    expect(call?.rpc.params?.name).toBe("größe");
    expect(call?.headers["mcp-name"]).toBe(`=?base64?${Buffer.from("größe").toString("base64")}?=`);
  });

  test.each(["private", "public"])(
    "gets what the server says now, also where that called it %s before",
    async (cacheScope) => {
      let reads = 0;
      await using rig = await setUp({
        "resources/list": (exchange) => exchange.result(complete({ resources: [{ uri: "a:b", name: "b" }] })),
        "resources/read": (exchange) =>
          exchange.result({
            ...complete({ contents: [{ uri: "a:b", text: `${++reads}` }] }),
            ttlMs: 60_000,
            cacheScope,
          }),
      });
      const read = async (capabilities: object) =>
        resultOf(await sendModern(rig.url, "resources/read", { uri: "a:b" }, { capabilities }));
      expect(await read({})).toMatchObject({ contents: [{ text: "1" }], cacheScope });
      expect(await read({})).toMatchObject({ contents: [{ text: "2" }] });
      expect(await read({ roots: {} })).toMatchObject({ contents: [{ text: "3" }] });
    },
  );
});
