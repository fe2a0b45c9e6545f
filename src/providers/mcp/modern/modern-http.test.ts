import { describe, expect, test } from "vitest";
import { describeProvider } from "../../../../tests/kit/describe-provider.ts";
import { FakeOut, fakeCall, fakeSession, toolCall } from "../../../../tests/kit/fake-host.ts";
import { complete, envelopeOf, fault, META, startModern, VERSION } from "../fixtures/modern-http.ts";
import { createProvider, modernStdioConfig, openProvider } from "../fixtures/setup.ts";

const MODERN = { origin: { front: "mcp", protocol: VERSION, requestId: "1" } };

describeProvider("mcpProvider on a server of 2026-07-28 over stdio", () => ({
  provider: createProvider(modernStdioConfig()),
  quickCall: () => toolCall("echo", { a: 1 }),
  endlessCall: () => toolCall("never"),
}));

describe("a server of 2026-07-28 over HTTP", () => {
  test("is discovered and listed without a handshake, and every request says who sends it", async () => {
    await using server = await startModern();
    await using setup = await openProvider({ url: server.url });
    expect(setup.host.status).toBe("ok");
    expect(setup.host.states.at(-1)?.about?.instructions).toBe("be kind");
    expect(setup.host.names("tool")).toEqual(["echo", "ask", "numbers"]);
    expect(server.count("initialize")).toBe(0);
    const posts = server.seen.filter(({ method }) => method === "POST");
    expect(posts[0]?.rpc.method).toBe("server/discover");
    for (const { rpc, headers } of posts) {
      expect(headers["mcp-protocol-version"]).toBe(VERSION);
      expect(headers["mcp-method"]).toBe(rpc.method);
      expect(headers["mcp-session-id"]).toBeUndefined();
      expect(envelopeOf(rpc)).toEqual({
        [`${META}protocolVersion`]: VERSION,
        [`${META}clientInfo`]: { name: "isthmus", version: "9" },
        [`${META}clientCapabilities`]: {},
      });
    }
    expect(server.seen.some(({ method }) => method === "GET")).toBe(false);
  });

  test("keeps the members that every result has out of its lists", async () => {
    await using server = await startModern({
      "tools/list": (exchange) =>
        exchange.result({
          tools: [],
          resultType: "complete",
          ttlMs: 5,
          cacheScope: "public",
          own: 1,
          _meta: { [`${META}serverInfo`]: {}, more: 2 },
        }),
    });
    await using setup = await openProvider({ url: server.url });
    expect(setup.host.offers.get("shared")?.get("tool")?.extras).toBe('"own":1,"_meta":{"more":2}');
    expect(setup.host.offers.get("shared")?.get("prompt")?.extras).toBe("");
  });

  test("declares a client as it declared itself, in the words of this era", async () => {
    await using server = await startModern();
    await using setup = await openProvider({ url: server.url });
    const session = fakeSession("a", {
      capabilities: { elicitation: {}, roots: { listChanged: true }, tasks: {}, sampling: { tools: {} } },
    });
    setup.provider.notify(session, "logging/setLevel", fakeCall({ input: { level: "warning" } }).input);
    await setup.provider.run(
      toolCall("echo", {}, { session, input: { _meta: { own: 1, progressToken: "p" } } }),
      new FakeOut(),
    );
    const call = server.seen.find(({ rpc }) => rpc.method === "tools/call");
    expect(envelopeOf(call?.rpc ?? {})).toEqual({
      own: 1,
      progressToken: call?.rpc.id,
      [`${META}protocolVersion`]: VERSION,
      [`${META}clientInfo`]: { name: "test-client", version: "1" },
      [`${META}clientCapabilities`]: { elicitation: { form: {} }, roots: {}, sampling: { tools: {} } },
      [`${META}logLevel`]: "warning",
    });
  });

  test("relays a result as it is to its own era, and without its members to the 2025 era", async () => {
    await using server = await startModern();
    await using setup = await openProvider({ url: server.url });
    const [modern, legacy] = [new FakeOut(), new FakeOut()];
    await setup.provider.run(toolCall("echo", { a: "ü" }, MODERN), modern);
    await setup.provider.run(toolCall("echo", { a: "ü" }), legacy);
    const content = [{ type: "text", text: "done" }];
    expect(modern.result).toEqual(complete({ content, structuredContent: { a: "ü" } }));
    expect(legacy.result).toEqual({ content, structuredContent: { a: "ü" } });
  });

  test("wraps structured content whose schema is wrapped for clients of the 2025 era", async () => {
    await using server = await startModern({
      "tools/call": (exchange) => exchange.result(complete({ structuredContent: [1, 2] })),
    });
    await using setup = await openProvider({ url: server.url });
    const out = new FakeOut();
    await setup.provider.run(toolCall("numbers"), out);
    expect(out.result).toEqual({ structuredContent: { result: [1, 2] }, content: [{ type: "text", text: "[1,2]" }] });
  });

  test("gives progress on the stream of the call, under our token", async () => {
    await using server = await startModern({
      "tools/call"(exchange) {
        exchange.stream().event({
          jsonrpc: "2.0",
          method: "notifications/progress",
          params: { progressToken: exchange.progressToken, progress: 1 },
        });
        exchange.event({ jsonrpc: "2.0", id: exchange.message.id, result: complete({ content: [] }) });
        exchange.end();
      },
    });
    await using setup = await openProvider({ url: server.url });
    const out = new FakeOut();
    await setup.provider.run(toolCall("echo", {}, { input: { _meta: { progressToken: "mine" } } }), out);
    expect(out.events.map(({ type }) => type)).toEqual(["progress", "end"]);
  });

  test("does not know what became of a call whose stream is lost, even if it had event ids", async () => {
    await using server = await startModern({
      "tools/call"(exchange) {
        exchange
          .stream()
          .event({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "x" } }, "1");
        exchange.end();
      },
    });
    await using setup = await openProvider({ url: server.url });
    await expect(setup.provider.run(toolCall("echo"), new FakeOut())).rejects.toMatchObject({
      code: "OUTCOME_UNKNOWN",
    });
    expect(server.seen.some(({ method }) => method === "GET")).toBe(false);
  });

  test("is told of a cancel by the closing of the stream, and by nothing else", async () => {
    const closed = Promise.withResolvers<void>();
    await using server = await startModern({
      "tools/call": (exchange) => void exchange.stream().response.on("close", () => closed.resolve()),
    });
    await using setup = await openProvider({ url: server.url });
    const call = toolCall("echo");
    const running = setup.provider.run(call, new FakeOut()).catch((error) => error);
    await expect.poll(() => server.count("tools/call")).toBe(1);
    setup.provider.reply(call.id, { type: "cancel", reason: "user" });
    await closed.promise;
    await setup.provider.close();
    expect(await running).toMatchObject({ code: "CANCELLED" });
    expect(server.count("notifications/cancelled")).toBe(0);
  });

  test("has its missing resources and capabilities told in the words of each era", async () => {
    await using server = await startModern({
      "resources/read": (exchange) => fault(exchange, { code: -32602, message: "gone", data: { uri: "a:b" } }),
      "tools/call": (exchange) =>
        fault(
          exchange,
          { code: -32021, message: "no", data: { requiredCapabilities: { elicitation: { form: {} } } } },
          400,
        ),
    });
    await using setup = await openProvider({ url: server.url });
    const read = { method: "resources/read", verb: "read", input: { uri: "a:b" } } as const;
    const [modern, legacy, third] = [new FakeOut(), new FakeOut(), new FakeOut()];
    await setup.provider.run(fakeCall({ ...read, ...MODERN }), modern);
    await setup.provider.run(fakeCall(read), legacy);
    await setup.provider.run(toolCall("echo", {}, MODERN), third);
    expect(modern.result).toMatchObject({ code: -32602 });
    expect(legacy.result).toEqual({ code: -32002, message: "gone", data: { uri: "a:b" } });
    expect(third.ends).toMatchObject([{ outcome: "fault" }]);
    await expect(setup.provider.run(toolCall("echo"), new FakeOut())).rejects.toMatchObject({
      code: "PROVIDER_FAILED",
      message: expect.stringContaining("elicitation.form"),
    });
  });

  test("is asked for its versions again, once, when it does not take ours in a call", async () => {
    let refusals = 1;
    await using server = await startModern({
      "tools/call": (exchange) =>
        refusals-- > 0
          ? fault(exchange, { code: -32022, message: "no", data: { supported: [VERSION] } }, 400)
          : exchange.result(complete({ content: [] })),
    });
    await using setup = await openProvider({ url: server.url });
    const out = new FakeOut();
    await setup.provider.run(toolCall("echo"), out);
    expect(out.result).toEqual({ content: [] });
    expect(server.count("server/discover")).toBe(2);
    refusals = 2;
    const refused = setup.provider.run(toolCall("echo", {}, MODERN), new FakeOut());
    await expect(refused).rejects.toMatchObject({ code: "PROVIDER_FAILED" });
  });

  test("never gives a result of an unknown kind to a client of the 2025 era", async () => {
    await using server = await startModern({
      "tools/call": (exchange) => exchange.result({ resultType: "task", taskId: "t" }),
    });
    await using setup = await openProvider({ url: server.url });
    await expect(setup.provider.run(toolCall("echo"), new FakeOut())).rejects.toMatchObject({
      code: "PROVIDER_FAILED",
    });
  });
});
