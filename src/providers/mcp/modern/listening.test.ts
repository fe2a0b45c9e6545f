import { describe, expect, test } from "vitest";
import { FakeOut, fakeCall, fakeSession, nodeTimers, toolCall } from "../../../../tests/kit/fake-host.ts";
import { type Provider, payload } from "../../../contract/index.ts";
import type { Exchange, Handler } from "../fixtures/http-server.ts";
import { complete, envelopeOf, fault, META, startModern, VERSION } from "../fixtures/modern-http.ts";
import { modernStdioConfig, openProvider } from "../fixtures/setup.ts";

const quick = { timers: { after: (ms: number, fire: () => void) => nodeTimers.after(ms / 100, fire) } };
const LISTS = { toolsListChanged: true, resourcesListChanged: true };

async function subscribe(
  provider: Provider,
  session: string,
  uri: string,
  method = "resources/subscribe",
): Promise<FakeOut> {
  const out = new FakeOut();
  await provider.run(fakeCall({ method, verb: "subscribe", input: { uri }, session: fakeSession(session) }), out);
  return out;
}

describe("listening to a server of 2026-07-28", () => {
  test("is one request for all lists that may change, with its envelope", async () => {
    await using server = await startModern();
    await using _ = await openProvider({ url: server.url });
    await expect.poll(() => server.listening.length).toBe(1);
    expect(server.listening[0]?.wanted).toEqual(LISTS);
    const { rpc, headers } = server.seen.find(({ rpc }) => rpc.method === "subscriptions/listen") ?? {};
    expect(headers).toMatchObject({ "mcp-method": "subscriptions/listen", "mcp-protocol-version": VERSION });
    expect(envelopeOf(rpc ?? {})).toHaveProperty([`${META}clientInfo`]);
  });

  test("is left out where nothing can change", async () => {
    await using server = await startModern({
      "server/discover": (exchange) =>
        exchange.result(complete({ supportedVersions: [VERSION], capabilities: { tools: {} } })),
    });
    await using setup = await openProvider({ url: server.url });
    await setup.provider.run(toolCall("echo"), new FakeOut());
    expect(server.count("subscriptions/listen")).toBe(0);
  });

  test("lists again when a list has changed", async () => {
    await using server = await startModern();
    await using setup = await openProvider({ url: server.url });
    await expect.poll(() => server.listening.length).toBe(1);
    server.on["tools/list"] = (exchange) => exchange.result(complete({ tools: [{ name: "new", inputSchema: {} }] }));
    server.say(server.listening[0] as never, "notifications/tools/list_changed");
    await expect.poll(() => setup.host.names("tool")).toEqual(["new"]);
  });

  test("follows the set of subscribed resources: the new stream is there before the old one goes", async () => {
    await using server = await startModern();
    await using setup = await openProvider({ url: server.url });
    expect((await subscribe(setup.provider, "a", "test://1")).result).toEqual({});
    await subscribe(setup.provider, "b", "test://1");
    expect(server.streams.map(({ wanted }) => wanted)).toEqual([
      LISTS,
      { ...LISTS, resourceSubscriptions: ["test://1"] },
    ]);
    await expect.poll(() => server.listening.length).toBe(1);
    server.say(server.listening[0] as never, "notifications/resources/updated", { uri: "test://1/part" });
    await expect.poll(() => setup.host.notices.length).toBe(1);
    expect(setup.host.notices[0]).toMatchObject({
      to: { resource: "test://1/part" },
      method: "notifications/resources/updated",
    });
    expect(setup.host.notices[0]?.payload.text).toBe('{"uri":"test://1/part"}');
    await subscribe(setup.provider, "a", "test://1", "resources/unsubscribe");
    expect(server.streams).toHaveLength(2);
    setup.provider.release(fakeSession("b"));
    await expect.poll(() => server.listening.map(({ wanted }) => wanted)).toEqual([LISTS]);
    expect(server.count("resources/subscribe") + server.count("resources/unsubscribe")).toBe(0);
  });

  test("closes the old stream only when the new one is acknowledged", async () => {
    await using server = await startModern();
    await using setup = await openProvider({ url: server.url });
    await expect.poll(() => server.listening.length).toBe(1);
    let acknowledge = () => {};
    server.on["subscriptions/listen"] = (exchange) => {
      exchange.stream();
      acknowledge = () =>
        exchange.event({
          jsonrpc: "2.0",
          method: "notifications/subscriptions/acknowledged",
          params: { notifications: {} },
        });
    };
    const subscribed = subscribe(setup.provider, "a", "test://1");
    await expect.poll(() => server.count("subscriptions/listen")).toBe(2);
    expect(server.listening).toHaveLength(1);
    acknowledge();
    await subscribed;
    await expect.poll(() => server.listening.length).toBe(0);
  });

  test("refuses subscriptions where the server has none", async () => {
    await using server = await startModern({
      "server/discover": (exchange) =>
        exchange.result(complete({ supportedVersions: [VERSION], capabilities: { resources: {} } })),
    });
    await using setup = await openProvider({ url: server.url });
    expect((await subscribe(setup.provider, "a", "test://1")).result).toMatchObject({ code: -32601 });
  });

  test.each([
    ["is cut", (exchange: { response: { destroy(): void } }) => exchange.response.destroy()],
    [
      "ends with a result",
      (exchange: { message: { id?: unknown }; event(data: object): void; end(): void }) => {
        exchange.event({ jsonrpc: "2.0", id: exchange.message.id, result: { resultType: "complete" } });
        exchange.end();
      },
    ],
    [
      "ends with a cancel",
      (exchange: { message: { id?: unknown }; event(data: object): void }) =>
        exchange.event({
          jsonrpc: "2.0",
          method: "notifications/cancelled",
          params: { requestId: exchange.message.id },
        }),
    ],
  ])("is taken up again when it %s, and the lists are read again", async (_, end) => {
    await using server = await startModern();
    await using setup = await openProvider({ url: server.url }, quick);
    await expect.poll(() => server.listening.length).toBe(1);
    const before = server.count("tools/list");
    end(server.listening[0]?.exchange as never);
    await expect.poll(() => server.count("subscriptions/listen")).toBe(2);
    await expect.poll(() => server.listening.length).toBe(1);
    await expect.poll(() => server.count("tools/list")).toBe(before + 1);
    expect(setup.host.status).toBe("ok");
  });

  test("is not tried again where the server refuses it", async () => {
    await using server = await startModern({
      "subscriptions/listen": (exchange) => fault(exchange, { code: -32601, message: "no" }, 404),
    });
    await using setup = await openProvider({ url: server.url }, quick);
    await expect.poll(() => server.count("subscriptions/listen")).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(server.count("subscriptions/listen")).toBe(1);
    expect(setup.host.status).toBe("ok");
  });

  test("finds out when the server has become one of the 2025 era", async () => {
    await using server = await startModern();
    await using setup = await openProvider({ url: server.url }, quick);
    await expect.poll(() => server.listening.length).toBe(1);
    const refuse: Handler = (exchange) =>
      exchange.json({ jsonrpc: "2.0", id: null, error: { code: -32000, message: "Server not initialized" } }, 400);
    Object.assign(server.on, {
      "server/discover": refuse,
      "subscriptions/listen": refuse,
      initialize: (exchange: Exchange) =>
        exchange.result({ protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: {} }),
      "tools/list": (exchange: Exchange) => exchange.result({ tools: [{ name: "old", inputSchema: {} }] }),
    });
    server.listening[0]?.exchange.response.destroy();
    await expect.poll(() => setup.host.names("tool")).toEqual(["old"]);
  });

  test("does not keep an idle client's session", async () => {
    await using server = await startModern();
    await using setup = await openProvider({ url: server.url, idle: 100 });
    const session = fakeSession("a", { capabilities: { roots: {} } });
    await setup.provider.run(toolCall("echo", {}, { session }), new FakeOut());
    await expect.poll(() => server.streams.length).toBeGreaterThan(1);
    await expect.poll(() => server.listening.length).toBe(0);
    await setup.provider.run(toolCall("echo", {}, { session }), new FakeOut());
    await expect.poll(() => server.listening.length).toBe(1);
  });

  test("goes on while a question to the client is open", async () => {
    const question = { method: "elicitation/create", params: { message: "sure?" } };
    await using server = await startModern({
      "tools/call": (exchange) =>
        exchange.message.params?.inputResponses
          ? exchange.result(complete({ content: [] }))
          : exchange.result({ resultType: "input_required", inputRequests: { q: question } }),
    });
    await using setup = await openProvider({ url: server.url, idle: 100 });
    const call = toolCall("ask", {}, { session: fakeSession("a", { capabilities: { elicitation: {} } }) });
    const running = setup.provider.run(call, new FakeOut());
    // The shared session goes to sleep, the client's does not.
    await expect.poll(() => server.streams.length, { timeout: 5000 }).toBe(2);
    await expect.poll(() => server.listening.length, { timeout: 5000 }).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(server.listening).toHaveLength(1);
    const answer = { key: "q", outcome: "result", payload: payload('{"action":"accept"}') } as const;
    setup.provider.reply(call.id, { type: "answer", answers: [answer] });
    await running;
    await expect.poll(() => server.listening.length, { timeout: 5000 }).toBe(0);
  });

  test("ends with the provider", async () => {
    await using server = await startModern();
    {
      await using _ = await openProvider({ url: server.url });
      await expect.poll(() => server.listening.length).toBe(1);
    }
    await expect.poll(() => server.listening.length).toBe(0);
  });

  test("works on a pipe, where the request is ended by a notification", async () => {
    await using setup = await openProvider(modernStdioConfig());
    const seen = async () => {
      const out = new FakeOut();
      await setup.provider.run(toolCall("seen"), out);
      return JSON.parse((out.result as { content: [{ text: string }] }).content[0].text).seen as { method: string }[];
    };
    const offers = setup.host.offerCount;
    await setup.provider.run(toolCall("change"), new FakeOut());
    const lists = async () => (await seen()).filter(({ method }) => method === "tools/list").length;
    await expect.poll(lists).toBe(2);
    expect(setup.host.offerCount).toBe(offers); // it is the same list
    await subscribe(setup.provider, "a", "test://1");
    const messages = await seen();
    expect(messages.map(({ method }) => method).filter((method) => /listen|cancelled/.test(method))).toEqual([
      "subscriptions/listen",
      "subscriptions/listen",
      "notifications/cancelled",
    ]);
  });

  test("asks for very many resources that are wanted at once in few requests, for each names all of them", async () => {
    await using setup = await openProvider(modernStdioConfig());
    const uris = Array.from({ length: 100 }, (_, at) => `test://${at}`);
    await Promise.all(uris.map((uri) => subscribe(setup.provider, "a", uri)));
    const out = new FakeOut();
    await setup.provider.run(toolCall("seen"), out);
    const { seen } = JSON.parse((out.result as { content: [{ text: string }] }).content[0].text);
    const filters = (seen as { method: string; params: { notifications?: { resourceSubscriptions?: string[] } } }[])
      .filter(({ method }) => method === "subscriptions/listen")
      .map(({ params }) => params.notifications?.resourceSubscriptions ?? []);
    expect(filters.at(-1)?.toSorted()).toEqual(uris.toSorted());
    expect(filters.length).toBeLessThanOrEqual(4);
  });
});
