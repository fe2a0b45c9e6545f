/** A client of 2026-07-28, the gateway, and a server of the 2025 era. */
import { describe, expect, test } from "vitest";
import type { Exchange } from "../../../src/providers/mcp/fixtures/http-server.ts";
import { EventStream } from "../../hostile/kit/event-stream.ts";
import { META } from "../../kit/modern-client.ts";
import { ALL, type Asked } from "../../kit/round-rig.ts";
import { post } from "../kit/rpc.ts";
import { AskingServer, gatewayTo, resultOf, sendModern, until } from "./kit.ts";

const FORM = { message: "Go?", requestedSchema: { type: "object", properties: {} } };
const RESULT = '{"content":[{"text":"\\u00fc and \u00fc","type":"text","n":1.50}], "x" : 1e2,"_meta":{"a/b":[0.10]}}';
const YES = { action: "accept", content: { ok: true } };

const askOnce = async (exchange: Exchange, server: AskingServer) => {
  exchange.stream();
  await server.ask(exchange, 0, "elicitation/create", FORM);
  server.finish(exchange, RESULT);
};

/** The same call made by hand, without a gateway. */
async function directResult(server: AskingServer) {
  const message = { id: 1, method: "tools/call", params: { name: "ask", arguments: {} } };
  using stream = await EventStream.open(server.url, { method: "POST", message });
  const { id } = await stream.message(({ method }) => method === "elicitation/create");
  await post(server.url, { id, result: YES });
  return (await stream.message(({ result }) => result !== undefined)).result ?? {};
}

describe("a question of a 2025 server to a client of 2026-07-28", () => {
  test("takes two rounds, and the result is that of a direct call, byte for byte", async () => {
    await using server = await AskingServer.start({ ask: askOnce });
    const direct = await directResult(server);
    await using gateway = await gatewayTo(server.url);
    const call = { name: "ask", arguments: {} };
    const asked = resultOf(await sendModern(gateway.url, "tools/call", call, { capabilities: ALL })) as Asked;
    const [key = ""] = Object.keys(asked.inputRequests);
    expect(asked.inputRequests).toEqual({ [key]: { method: "elicitation/create", params: FORM } });
    const { requestState } = asked;
    const retry = { ...call, requestState, inputResponses: { [key]: YES } };
    const answer = await sendModern(gateway.url, "tools/call", retry, { id: 2, capabilities: ALL });
    const { resultType, _meta, ...rest } = resultOf(answer);
    const { _meta: directMeta, ...directRest } = direct;
    expect([resultType, rest]).toEqual(["complete", directRest]);
    expect(_meta).toMatchObject(Object(directMeta));
    expect(answer.text).toContain(RESULT.slice(0, RESULT.indexOf(',"_meta"')));
    expect(answer.text).toContain('"a/b":[0.10]');
    expect(server.count("tools/call")).toBe(2);
  });

  test("reaches it with others of the same moment in one map, and each answer its own question, id 0 too", async () => {
    await using server = await AskingServer.start({
      four: async (exchange, upstream) => {
        exchange.stream();
        const both = [0, 1].map((id) =>
          upstream.ask(exchange, id, "elicitation/create", { ...FORM, message: `${id}` }),
        );
        const answers = await Promise.all(both);
        answers.push(await upstream.ask(exchange, 2, "sampling/createMessage", { messages: [], maxTokens: 1 }));
        answers.push(await upstream.ask(exchange, 3, "roots/list"));
        upstream.finish(exchange, JSON.stringify({ content: [], structuredContent: { answers } }));
      },
    });
    await using gateway = await gatewayTo(server.url);
    const call = { name: "four", arguments: {} };
    const rounds: string[][] = [];
    let more = {};
    let result = resultOf(await sendModern(gateway.url, "tools/call", call, { capabilities: ALL }));
    while (result.resultType === "input_required") {
      const { inputRequests, requestState } = result as Asked;
      rounds.push(Object.values(inputRequests).map(({ method }) => method));
      const inputResponses = Object.fromEntries(
        Object.entries(inputRequests).map(([key, { method, params }]) => [key, answerTo(method, params)]),
      );
      more = { requestState, inputResponses };
      result = resultOf(await sendModern(gateway.url, "tools/call", { ...call, ...more }, { capabilities: ALL }));
    }
    expect(rounds).toEqual([["elicitation/create", "elicitation/create"], ["sampling/createMessage"], ["roots/list"]]);
    expect(result.structuredContent).toEqual({
      answers: [
        { action: "accept", content: { for: "0" } },
        { action: "accept", content: { for: "1" } },
        SAMPLE,
        ROOTS,
      ],
    });
  });

  test("does not keep the gateway from answering a ping meanwhile", async () => {
    const open = Promise.withResolvers<Exchange>();
    await using server = await AskingServer.start({
      ask: (exchange, upstream) => {
        open.resolve(exchange);
        void askOnce(exchange, upstream);
      },
    });
    await using gateway = await gatewayTo(server.url);
    const call = { name: "ask", arguments: {} };
    const { requestState, inputRequests } = resultOf(
      await sendModern(gateway.url, "tools/call", call, { capabilities: ALL }),
    ) as Asked;
    (await open.promise).event({ jsonrpc: "2.0", id: "are you there", method: "ping" });
    await until(() => server.seen.some(({ rpc }) => rpc.id === "are you there" && rpc.result !== undefined));
    const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, YES]));
    const retry = { ...call, requestState, inputResponses };
    expect(resultOf(await sendModern(gateway.url, "tools/call", retry, { capabilities: ALL })).resultType).toBe(
      "complete",
    );
  });
});

const SAMPLE = { role: "assistant", model: "m", content: { type: "text", text: "x" } };
const ROOTS = { roots: [{ uri: "file:///a" }] };

function answerTo(method: string, params: Record<string, unknown>): object {
  if (method === "roots/list") return ROOTS;
  return method === "sampling/createMessage" ? SAMPLE : { action: "accept", content: { for: params.message } };
}

describe("a client of 2026-07-28 before a 2025 server", () => {
  test("is told what there is without a word to the server", async () => {
    await using server = await AskingServer.start({ ask: askOnce });
    await using gateway = await gatewayTo(server.url);
    await sendModern(gateway.url, "server/discover");
    await sendModern(gateway.url, "tools/list");
    const before = server.seen.length;
    for (const capabilities of [{}, ALL, { roots: {} }, {}]) {
      const found = resultOf(await sendModern(gateway.url, "server/discover", {}, { capabilities }));
      expect(found).toMatchObject({ supportedVersions: ["2026-07-28"], capabilities: { tools: {} } });
    }
    expect(server.seen.length).toBe(before);
  });

  test("has what its era adds on every result, and the server nothing of it", async () => {
    const { server, gateway } = await plainServer();
    await using _server = server;
    await using _gateway = gateway;
    const cached = ["tools/list", "resources/list", "resources/templates/list", "prompts/list", "resources/read"];
    const requests: [string, Record<string, unknown>][] = [
      ["server/discover", {}],
      ...cached.slice(0, 4).map((method): [string, Record<string, unknown>] => [method, {}]),
      ["resources/read", { uri: "a:b" }],
      ["prompts/get", { name: "p" }],
      ["tools/call", { name: "t", arguments: {} }],
      ["completion/complete", { ref: { type: "ref/prompt", name: "p" }, argument: { name: "a", value: "" } }],
    ];
    for (const [method, params] of requests) {
      const result = resultOf(await sendModern(gateway.url, method, params));
      expect([method, result]).toMatchObject([
        method,
        { resultType: "complete", _meta: { [`${META}serverInfo`]: { name: "isthmus" } } },
      ]);
      if (cached.includes(method))
        expect([method, result]).toMatchObject([method, { ttlMs: 0, cacheScope: "private" }]);
    }
    expect(JSON.stringify(server.seen.filter(({ rpc }) => rpc.method !== "server/discover"))).not.toContain(META);
  });

  test.each([["text"], [7], [0]])("gets progress under its own token %j, and none after the answer", async (token) => {
    await using server = await AskingServer.start({
      steps: (exchange) => {
        exchange.stream();
        const params = { progressToken: exchange.progressToken, progress: 1 };
        exchange.event({ jsonrpc: "2.0", method: "notifications/progress", params });
        exchange.event({ jsonrpc: "2.0", id: exchange.message.id, result: { content: [] } });
        exchange.event({ jsonrpc: "2.0", method: "notifications/progress", params: { ...params, progress: 2 } });
        exchange.end();
      },
    });
    await using gateway = await gatewayTo(server.url);
    const meta = { progressToken: token };
    const { messages } = await sendModern(gateway.url, "tools/call", { name: "steps" }, { meta });
    expect(messages).toMatchObject([{ params: { progressToken: token, progress: 1 } }, { result: { content: [] } }]);
    expect(messages).toHaveLength(2);
  });

  test("cancels by closing its stream: the server hears of it under the id that it knows", async () => {
    await using server = await AskingServer.start({ never: (exchange) => void exchange.stream() });
    await using gateway = await gatewayTo(server.url);
    const gone = new AbortController();
    const calling = sendModern(gateway.url, "tools/call", { name: "never" }, { id: 0, signal: gone.signal });
    calling.catch(() => undefined);
    await until(() => server.count("tools/call") === 1);
    gone.abort();
    await until(() => server.count("notifications/cancelled") === 1);
    const idOf = (method: string) => server.seen.find(({ rpc }) => rpc.method === method)?.rpc;
    expect(idOf("notifications/cancelled")?.params?.requestId).toBe(idOf("tools/call")?.id);
  });

  test("gets no log line that may be another call's", async () => {
    const open: Exchange[] = [];
    await using server = await AskingServer.start(
      { log: (exchange) => void open.push(exchange.stream()) },
      {
        "logging/setLevel": (exchange: Exchange) => exchange.result({}),
        initialize: (exchange: Exchange) =>
          exchange.result(
            { protocolVersion: "2025-11-25", capabilities: { tools: {}, logging: {} }, serverInfo: {} },
            { "mcp-session-id": "s" },
          ),
      },
    );
    await using gateway = await gatewayTo(server.url);
    const say = (data: string) =>
      server.listeners[0]?.event({ jsonrpc: "2.0", method: "notifications/message", params: { level: "error", data } });
    const call = () => sendModern(gateway.url, "tools/call", { name: "log" }, { logLevel: "warning" });
    const both = [call(), call()];
    await until(() => open.length === 2);
    say("whose?");
    open[0]?.event({ jsonrpc: "2.0", method: "notifications/message", params: { level: "error", data: "mine" } });
    open[0]?.event({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "too little" } });
    for (const exchange of open) server.finish(exchange, '{"content":[]}');
    const answers = await Promise.all(both);
    const heard = answers.flatMap(({ messages }) => messages).filter(({ method }) => method !== undefined);
    expect(heard).toMatchObject([{ params: { data: "mine" } }]);
  });

  test("continues a trace, and its other _meta survives both ways", async () => {
    const foreign = {
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      "vendor/x": { a: [1, "ü"] },
    };
    await using server = await AskingServer.start({
      meta: (exchange) => exchange.result({ content: [], _meta: { "vendor/y": exchange.message.params?._meta } }),
    });
    await using gateway = await gatewayTo(server.url);
    const result = resultOf(await sendModern(gateway.url, "tools/call", { name: "meta" }, { meta: foreign }));
    expect(result._meta).toMatchObject({ "vendor/y": { "vendor/x": foreign["vendor/x"] } });
    const { traceparent } = (result._meta as { "vendor/y": { traceparent: string } })["vendor/y"];
    expect(traceparent.slice(0, 36)).toBe(foreign.traceparent.slice(0, 36));
  });

  test("may use methods of the server's own, and hears notifications of its own in a call", async () => {
    await using server = await AskingServer.start(
      {
        say: (exchange, upstream) => {
          exchange.stream().event({ jsonrpc: "2.0", method: "notifications/vendor", params: { a: 1 } });
          upstream.finish(exchange, '{"content":[]}');
        },
      },
      { "vendor/thing": (exchange: Exchange) => exchange.result({ got: exchange.message.params }) },
    );
    await using gateway = await gatewayTo(server.url);
    expect(resultOf(await sendModern(gateway.url, "vendor/thing", { a: 1 }))).toMatchObject({ got: { a: 1 } });
    const { messages } = await sendModern(gateway.url, "tools/call", { name: "say" });
    expect(messages[0]).toMatchObject({ method: "notifications/vendor", params: { a: 1 } });
    const unknown = await sendModern(gateway.url, "vendor/other");
    expect([unknown.status, unknown.messages[0]?.error?.code]).toEqual([404, -32601]);
    const legacy = await post(gateway.url, { id: 1, method: "vendor/other" });
    expect([legacy.status, legacy.messages[0]?.error?.code]).toEqual([200, -32601]);
  });
});

/** A server that has one of everything and asks nothing. */
async function plainServer() {
  const server = await AskingServer.start(
    { t: (exchange) => exchange.result({ content: [] }) },
    {
      initialize: (exchange: Exchange) =>
        exchange.result({
          protocolVersion: "2025-11-25",
          capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
          serverInfo: { name: "plain", version: "1" },
        }),
      "resources/list": (exchange: Exchange) => exchange.result({ resources: [{ uri: "a:b", name: "b" }] }),
      "resources/templates/list": (exchange: Exchange) => exchange.result({ resourceTemplates: [] }),
      "prompts/list": (exchange: Exchange) => exchange.result({ prompts: [{ name: "p" }] }),
      "resources/read": (exchange: Exchange) => exchange.result({ contents: [{ uri: "a:b", text: "x" }] }),
      "prompts/get": (exchange: Exchange) => exchange.result({ messages: [] }),
      "completion/complete": (exchange: Exchange) => exchange.result({ completion: { values: [] } }),
    },
  );
  return { server, gateway: await gatewayTo(server.url) };
}
