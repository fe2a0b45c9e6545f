import { describe, expect, test } from "vitest";
import { FakeOut, fakeCall, fakeSession, toolCall } from "../../../../tests/kit/fake-host.ts";
import { payload } from "../../../contract/index.ts";
import { complete, fault, type ModernFixture, startModern } from "../fixtures/modern-http.ts";
import { openProvider } from "../fixtures/setup.ts";

const property = (type: string, header?: unknown) => ({
  type,
  ...(header !== undefined && { "x-mcp-header": header }),
});

const SCHEMA = {
  type: "object",
  properties: {
    region: property("string", "Region"),
    count: property("integer", "Count"),
    dry: property("boolean", "Dry"),
    plain: property("string"),
    deep: { type: "object", properties: { id: property("string", "Id") } },
  },
};

const annotated = (count: number) => ({
  type: "object",
  properties: Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, property("string", `P${at}`)])),
});

const listing = (tools: object[]) => ({
  "tools/list": (exchange: { result(result: object): void }) => exchange.result(complete({ tools })),
});

const lastCall = (server: ModernFixture) =>
  server.seen.findLast(({ rpc }) => rpc.method?.includes("/") && !rpc.method.includes("list"));

describe("headers towards a server of 2026-07-28", () => {
  test.each([
    ["tools/call", { name: "échange", arguments: {} }, "=?base64?w6ljaGFuZ2U=?="],
    ["prompts/get", { name: "plain" }, "plain"],
    ["resources/read", { uri: "file:///a%20b?c=d" }, "file:///a%20b?c=d"],
    ["resources/read", { uri: " padded" }, "=?base64?IHBhZGRlZA==?="],
    ["completion/complete", { ref: { type: "ref/prompt", name: "p" }, argument: {} }, undefined],
  ])("%s names its target (%j)", async (method, input, name) => {
    await using server = await startModern({ [method]: (exchange) => exchange.result(complete({})) });
    await using setup = await openProvider({ url: server.url });
    await setup.provider.run(fakeCall({ method, input }), new FakeOut());
    expect(lastCall(server)?.headers["mcp-method"]).toBe(method);
    expect(lastCall(server)?.headers["mcp-name"]).toBe(name);
  });

  test("repeat the annotated arguments, and no others", async () => {
    await using server = await startModern(listing([{ name: "deploy", inputSchema: SCHEMA }]));
    await using setup = await openProvider({ url: server.url });
    const run = async (args: object) => {
      await setup.provider.run(toolCall("deploy", args), new FakeOut());
      const entries = Object.entries(lastCall(server)?.headers ?? {});
      return Object.fromEntries(entries.filter(([key]) => key.startsWith("mcp-param-")));
    };
    expect(await run({ region: "Zürich", count: 42, dry: false, plain: "x", deep: { id: "=?base64?x?=" } })).toEqual({
      "mcp-param-region": "=?base64?WsO8cmljaA==?=",
      "mcp-param-count": "42",
      "mcp-param-dry": "false",
      "mcp-param-id": "=?base64?PT9iYXNlNjQ/eD89?=",
    });
    expect(await run({ region: null, deep: {} })).toEqual({});
  });

  test("keep every digit of a long integer", async () => {
    await using server = await startModern(listing([{ name: "deploy", inputSchema: SCHEMA }]));
    await using setup = await openProvider({ url: server.url });
    const input = payload('{"name":"deploy","arguments":{"count":9007199254740993}}');
    await setup.provider.run({ ...toolCall("deploy"), input }, new FakeOut());
    expect(lastCall(server)?.headers["mcp-param-count"]).toBe("9007199254740993");
  });

  test("wait for the list before the first call", async () => {
    let listed = Promise.resolve();
    await using server = await startModern({
      "tools/list": (exchange) =>
        void listed.then(() => exchange.result(complete({ tools: [{ name: "deploy", inputSchema: SCHEMA }] }))),
    });
    await using setup = await openProvider({ url: server.url });
    const gate = Promise.withResolvers<void>();
    listed = gate.promise;
    const session = fakeSession("a", { capabilities: { roots: {} } });
    const running = setup.provider.run(toolCall("deploy", { region: "x" }, { session }), new FakeOut());
    await expect.poll(() => server.count("tools/list")).toBe(2);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(server.count("tools/call")).toBe(0);
    gate.resolve();
    await running;
    expect(lastCall(server)?.headers["mcp-param-region"]).toBe("x");
  });

  test("are never made for tools with an annotation that is not valid: those are not offered", async () => {
    const bad = (property: object) => ({ type: "object", properties: { a: property } });
    await using server = await startModern(
      listing([
        { name: "good", inputSchema: SCHEMA },
        { name: "space", inputSchema: bad(property("string", "a b")) },
        { name: "type", inputSchema: bad(property("number", "A")) },
        { name: "empty", inputSchema: bad(property("string", "")) },
        { name: "most", inputSchema: annotated(64) },
        { name: "many", inputSchema: annotated(65) },
        {
          name: "twice",
          inputSchema: { type: "object", properties: { a: property("string", "A"), b: property("string", "a") } },
        },
      ]),
    );
    await using setup = await openProvider({ url: server.url });
    expect(setup.host.names("tool")).toEqual(["good", "most"]);
  });

  test("are made anew, once, when the server says that they do not fit", async () => {
    let hasHeader = false;
    await using server = await startModern({
      "tools/list": (exchange) =>
        exchange.result(
          complete({ tools: [{ name: "deploy", inputSchema: hasHeader ? SCHEMA : { type: "object" } }] }),
        ),
      "tools/call": (exchange) =>
        exchange.request.headers["mcp-param-region"] === "x"
          ? exchange.result(complete({ content: [] }))
          : fault(exchange, { code: -32020, message: "mismatch" }, 400),
    });
    await using setup = await openProvider({ url: server.url });
    hasHeader = true;
    const out = new FakeOut();
    await setup.provider.run(toolCall("deploy", { region: "x" }), out);
    expect(out.result).toEqual({ content: [] });
    expect(server.count("tools/call")).toBe(2);
    const refused = setup.provider.run(toolCall("deploy", { region: "y" }), new FakeOut());
    await expect(refused).rejects.toMatchObject({ code: "PROVIDER_FAILED" });
    expect(server.count("tools/call")).toBe(4);
  });
});
