import { describe, expect, test, vi } from "vitest";
import { describeProvider } from "../../../tests/kit/describe-provider.ts";
import { FakeOut, fakeSession, toolCall } from "../../../tests/kit/fake-host.ts";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { type Exchange, type HttpFixture, startHttpFixture } from "./fixtures/http-server.ts";
import { createProvider, openProvider } from "./fixtures/setup.ts";
import { SocketBound } from "./http/index.ts";
import type { McpDeps } from "./index.ts";

/** A 2024 server: answers come on the GET stream, POSTs get 202. */
async function startSseServer(
  endpoint = (server: HttpFixture) => `${new URL(server.url).pathname}?session=${server.listeners.length}`,
) {
  const streamOf = ({ server, request }: Exchange) =>
    server.listeners.at(Number(new URL(request.url ?? "", server.url).searchParams.get("session") ?? 0) - 1);

  const onStream = (result: (exchange: Exchange) => unknown) => (exchange: Exchange) => {
    exchange.raw("", 202, {});
    const value = result(exchange);
    if (value !== undefined) streamOf(exchange)?.event({ jsonrpc: "2.0", id: exchange.message.id, result: value });
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

  describe("with a server that asks on and on, and does not take the answers", () => {
    const SESSIONS = 5;
    const PINGS = 100;

    async function rig(parts: Partial<McpDeps> = {}) {
      const server = await startSseServer();
      let held = 0;
      server.on.answer = () => void held++;
      const setup = await openProvider({ url: server.url, transport: "sse" }, parts);
      const sessions = Array.from({ length: SESSIONS }, (_, at) => fakeSession(`s${at}`));
      for (const session of sessions) await setup.provider.scope(session);
      for (const stream of server.listeners)
        for (let number = 0; number < PINGS; number++)
          stream.event({ jsonrpc: "2.0", id: `p${number}`, method: "ping" });
      const call = async (session = sessions[0]) => {
        const out = new FakeOut();
        await setup.provider.run(toolCall("echo", {}, { session }), out);
        return out.result;
      };
      return {
        server,
        call,
        held: () => held,
        async [Symbol.asyncDispose]() {
          await setup[Symbol.asyncDispose]();
          await server.stop();
        },
      };
    }

    test("keeps a few sockets busy for each session, and calls go on", async () => {
      await using it = await rig();
      const most = 4 * it.server.listeners.length;
      await vi.waitFor(() => expect(it.held()).toBe(most));
      expect(await it.call()).toEqual({ content: [] });
      expect(it.held()).toBe(most);
      expect(it.server.sockets.size).toBeLessThanOrEqual(it.server.listeners.length + most + 1);
    });

    test("has no more than a pool of sockets for all its sessions", async () => {
      const most = 10;
      await using it = await rig({ sockets: new SocketBound(4 * most) });
      await vi.waitFor(() => expect(it.held()).toBe(most));
      expect(it.server.sockets.size).toBeLessThanOrEqual(it.server.listeners.length + most);
    });

    test("gives up on answers that are not taken, and sends the next", async () => {
      const time = new ManualTime();
      await using it = await rig({ timers: time, clock: time });
      await vi.waitFor(() => expect(it.held()).toBeGreaterThan(0));
      const before = it.held();
      time.advance(5_000);
      await vi.waitFor(() => expect(it.held()).toBe(2 * before));
    });
  });

  test("uses the sockets of sessions that are over for others", async () => {
    await using server = await startSseServer();
    await using setup = await openProvider({ url: server.url, transport: "sse" });
    for (let at = 0; at < 5; at++) {
      const session = fakeSession(`s${at}`);
      await setup.provider.run(toolCall("echo", {}, { session }), new FakeOut());
      setup.provider.release(session);
    }
    await vi.waitFor(() => expect(server.sockets.size).toBeLessThanOrEqual(4));
  });

  test("says so when the address is no such stream", async () => {
    await using server = await startHttpFixture();
    await using setup = await openProvider({ url: server.url, transport: "sse", restart: "never" });
    expect(setup.host.states.at(-1)).toMatchObject({ status: "invalid", message: "The server answered HTTP 405." });
  });
});
