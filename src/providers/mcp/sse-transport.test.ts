import { describe, expect, test } from "vitest";
import { describeProvider } from "../../../tests/kit/describe-provider.ts";
import { FakeOut, fakeSession, toolCall } from "../../../tests/kit/fake-host.ts";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { type Exchange, type HttpFixture, startHttpFixture } from "./fixtures/http-server.ts";
import { createProvider, openProvider } from "./fixtures/setup.ts";

/** A 2024 server: answers come on the GET stream, POSTs get 202. */
async function startSseServer(endpoint = (server: HttpFixture) => `${new URL(server.url).pathname}?session=1`) {
  const onStream = (result: (exchange: Exchange) => unknown) => (exchange: Exchange) => {
    exchange.raw("", 202, {});
    const value = result(exchange);
    if (value !== undefined)
      exchange.server.listeners.at(-1)?.event({ jsonrpc: "2.0", id: exchange.message.id, result: value });
  };
  return await startHttpFixture({
    GET(exchange) {
      exchange.server.listeners.push(exchange.stream());
      exchange.response.write(`event: endpoint\ndata: ${endpoint(exchange.server)}\n\n`);
    },
    initialize: onStream(() => ({
      protocolVersion: "2024-11-05",
      capabilities: { tools: {} },
      serverInfo: { name: "old", version: "1" },
    })),
    "tools/list": onStream(() => ({ tools: [{ name: "echo" }] })),
    "tools/call"(exchange) {
      if (exchange.tool === "refused") exchange.raw("", 500, {});
      else if (exchange.tool === "cut") exchange.server.listeners.at(-1)?.end();
      else onStream(() => (exchange.tool === "never" ? undefined : { content: [] }))(exchange);
    },
  });
}

describeProvider("mcpProvider over HTTP+SSE", async () => {
  const server = await startSseServer();
  return {
    provider: createProvider({ url: server.url, transport: "sse" }),
    quickCall: () => toolCall("echo"),
    endlessCall: () => toolCall("never"),
    stop: () => server.stop(),
  };
});

describe("SseTransport", () => {
  test("posts to the endpoint the server names, with its query", async () => {
    await using server = await startSseServer();
    await using setup = await openProvider({ url: server.url, transport: "sse" });
    expect(setup.host.names("tool")).toEqual(["echo"]);
    expect(await setup.provider.scope(fakeSession("a"))).toBe("session:a");
  });

  test("sends nothing to an endpoint of another origin", async () => {
    await using other = await startHttpFixture();
    await using server = await startSseServer(() => other.url);
    await using setup = await openProvider({ url: server.url, transport: "sse", restart: "never" });
    expect(setup.host.states.at(-1)).toMatchObject({ status: "invalid", message: expect.stringContaining("origin") });
    expect(other.seen).toEqual([]);
  });

  test.each([
    ["is refused", "refused", "PROVIDER_FAILED"],
    ["was sent when the stream ended", "cut", "OUTCOME_UNKNOWN"],
  ])("fails a call that %s", async (_, tool, code) => {
    await using server = await startSseServer();
    await using setup = await openProvider({ url: server.url, transport: "sse" });
    await expect(setup.provider.run(toolCall(tool), new FakeOut())).rejects.toMatchObject({ code });
  });

  describe("with a server that answers on its stream and never to the POST", () => {
    type Then = (exchange: Exchange, time: ManualTime, cancel: () => void) => void;
    const answer: Then = (exchange) =>
      exchange.server.listeners.at(-1)?.event({ jsonrpc: "2.0", id: exchange.message.id, result: { content: [] } });
    const leave: Then = (_exchange, time, cancel) => {
      cancel();
      time.advance(5_000);
    };

    test.each<[string, string, number, Then, number]>([
      ["a long POST with its answer", "ok", 100_000, answer, 0],
      ["a short POST soon after its answer", "ok", 10, answer, 2_000],
      ["the POST of a call that was cancelled", "CANCELLED", 100_000, leave, 0],
    ])("ends %s", async (_, outcome, bytes, then, afterMs) => {
      await using server = await startSseServer();
      const time = new ManualTime();
      await using setup = await openProvider({ url: server.url, transport: "sse" }, { timers: time, clock: time });
      const closed = Promise.withResolvers<void>();
      const call = toolCall("echo", { text: "x".repeat(bytes) });
      server.on["tools/call"] = (exchange) => {
        exchange.response.on("close", closed.resolve);
        then(exchange, time, () => setup.provider.reply(call.id, { type: "cancel" }));
      };
      const code = await setup.provider.run(call, new FakeOut()).then(
        () => "ok",
        (error: { code: string }) => error.code,
      );
      expect(code).toBe(outcome);
      time.advance(afterMs);
      await closed.promise;
    });
  });

  test("says so when the address is no such stream", async () => {
    await using server = await startHttpFixture();
    await using setup = await openProvider({ url: server.url, transport: "sse", restart: "never" });
    expect(setup.host.states.at(-1)).toMatchObject({ status: "invalid", message: "The server answered HTTP 405." });
  });
});
