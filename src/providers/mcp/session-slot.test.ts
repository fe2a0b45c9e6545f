import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import {
  FakeHost,
  FakeMeter,
  FakeOut,
  fakeCall,
  fakeSession,
  silentLog,
  toolCall,
} from "../../../tests/kit/fake-host.ts";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { type Exchange, HttpFixture, startHttpFixture } from "./fixtures/http-server.ts";
import { createProvider, openProvider } from "./fixtures/setup.ts";

const signal = () => new AbortController().signal;
const failing = (promise: Promise<void>) => promise.then(() => undefined).catch((error: unknown) => error);
const soon = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe("SessionSlot", () => {
  test("opens one session for all calls that wait for it", async () => {
    await using server = await startHttpFixture();
    await using setup = await openProvider({ url: server.url, sessions: "per-client" });
    const session = fakeSession("a");
    const outs = Array.from({ length: 5 }, () => new FakeOut());
    await Promise.all(outs.map((out) => setup.provider.run(toolCall("x", {}, { session }), out)));
    expect(outs.every((out) => out.ends.length === 1)).toBe(true);
    expect(server.count("initialize")).toBe(2); // the shared one and the client's
  });

  test("lets a call wait for a session until its deadline, and no longer", async () => {
    const held: Exchange[] = [];
    await using server = await startHttpFixture({ initialize: (exchange) => void held.push(exchange) });
    const provider = createProvider({ url: server.url });
    const host = new FakeHost();
    const opening = provider.open(host, signal());
    const late = failing(provider.run(toolCall("x", {}, { deadline: performance.now() + 20 }), new FakeOut()));
    expect(await late).toMatchObject({ code: "PROVIDER_UNREACHABLE" });
    const out = new FakeOut();
    const running = provider.run(toolCall("x"), out);
    await vi.waitFor(() => expect(held).toHaveLength(1));
    held[0]?.result({ protocolVersion: "2025-06-18", capabilities: {}, serverInfo: { name: "x", version: "1" } });
    await Promise.all([opening, running]);
    expect(out.ends).toHaveLength(1);
    expect(server.seen.at(-1)?.headers["mcp-protocol-version"]).toBe("2025-06-18");
    await provider.close();
  });

  test("says in one line why a session failed, and not where in the gateway", async () => {
    const provider = createProvider({ url: "http://127.0.0.1:9/mcp" });
    const warn = vi.spyOn(silentLog, "warn");
    const debug = vi.spyOn(silentLog, "debug");
    await failing(provider.open(new FakeHost(), signal()));
    await failing(provider.run(toolCall("x", {}, { deadline: performance.now() + 200 }), new FakeOut()));
    const told = [...warn.mock.calls, ...debug.mock.calls].filter(([message]) => message === "upstream session failed");
    expect(told.map(([, fields]) => fields?.cause)).toContainEqual(expect.stringContaining("ECONNREFUSED"));
    for (const spy of [warn, debug]) spy.mockRestore();
    await provider.close();
  });

  test("a call that is cancelled while it waits is never sent", async () => {
    const held: Exchange[] = [];
    await using server = await startHttpFixture({ initialize: (exchange) => void held.push(exchange) });
    const provider = createProvider({ url: server.url });
    const opening = provider.open(new FakeHost(), signal());
    const call = toolCall("x");
    const running = failing(provider.run(call, new FakeOut()));
    provider.reply(call.id, { type: "cancel" });
    expect(await running).toMatchObject({ code: "CANCELLED" });
    await vi.waitFor(() => expect(held).toHaveLength(1));
    held[0]?.result({ protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "x", version: "1" } });
    await opening;
    await soon(10);
    expect(server.count("tools/call")).toBe(0);
    await provider.close();
  });

  test("closes in the middle of a handshake", async () => {
    const provider = createProvider({ command: "sh", args: ["-c", "cat > /dev/null"] });
    const opening = provider.open(new FakeHost(), signal());
    await soon(30);
    await provider.close();
    await opening;
  });

  test("says that a process is silent before it starts another, which is not asked for its era first", async () => {
    const folder = mkdtempSync(join(tmpdir(), "isthmus-silent-"));
    const heard = () =>
      [...readFileSync(join(folder, "heard"), "utf8").matchAll(/"method":"([^"]*)"/g)].map(([, method]) => method);
    const [time, meter] = [new ManualTime(), new FakeMeter()];
    try {
      const silent = { command: "sh", args: ["-c", "cat >> heard"], cwd: folder };
      const opening = openProvider(silent, { clock: time, timers: time, meter });
      await vi.waitFor(() => expect(heard()).toEqual(["server/discover"]));
      time.advance(5_000);
      await vi.waitFor(() => expect(heard()).toEqual(["server/discover", "initialize"]));
      time.advance(60_000);
      await using setup = await opening;
      const message = "The server did not answer within 60 s.";
      expect(setup.host.states.at(-1)).toMatchObject({ status: "unreachable", message });
      expect(meter.counts.get("isthmus_upstream_starts_total test")).toBe(1);
      time.advance(5_000);
      await vi.waitFor(() => expect(heard()).toEqual(["server/discover", "initialize", "initialize"]));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("closes when the signal of its opening aborts", async () => {
    await using server = await startHttpFixture();
    const provider = createProvider({ url: server.url });
    const abort = new AbortController();
    await provider.open(new FakeHost(), abort.signal);
    abort.abort();
    expect(await failing(provider.run(toolCall("x"), new FakeOut()))).toMatchObject({ code: "NOT_READY" });
  });

  test("subscribes again after the session was replaced", async () => {
    await using server = await startHttpFixture(
      {
        initialize: (exchange) =>
          exchange.result(
            {
              protocolVersion: "2025-11-25",
              capabilities: { resources: { subscribe: true } },
              serverInfo: { name: "x", version: "1" },
            },
            { "mcp-session-id": String(exchange.server.sessionId) },
          ),
        "resources/subscribe": (exchange) => exchange.result({}),
      },
      "old",
    );
    await using setup = await openProvider({ url: server.url, sessions: "shared" });
    const input = { uri: "file:///a" };
    await setup.provider.run(
      fakeCall({ verb: "subscribe", method: "resources/subscribe", input, session: fakeSession("a") }),
      new FakeOut(),
    );
    server.sessionId = "new";
    server.on["tools/call"] = (exchange) =>
      exchange.request.headers["mcp-session-id"] === "new" ? exchange.result({}) : exchange.raw("", 404, {});
    await setup.provider.run(toolCall("x"), new FakeOut());
    await vi.waitFor(() => expect(server.count("resources/subscribe")).toBe(2));
    expect(server.seen.findLast(({ rpc }) => rpc.method === "resources/subscribe")?.rpc.params).toEqual(input);
  });

  test("says which list a server refuses, and offers the others", async () => {
    await using server = await startHttpFixture({
      initialize: (exchange) =>
        exchange.result({
          protocolVersion: "2025-11-25",
          capabilities: { tools: {}, prompts: {} },
          serverInfo: { name: "x", version: "1" },
        }),
      "prompts/list": (exchange) =>
        exchange.json({ jsonrpc: "2.0", id: exchange.message.id, error: { code: -32603, message: "oops" } }),
    });
    await using setup = await openProvider({ url: server.url });
    expect(setup.host.states.at(-1)).toMatchObject({
      status: "invalid",
      message: "prompts/list failed with code -32603",
    });
    expect(setup.host.names("tool")).toEqual(["echo"]);
  });

  test("does not hammer a server that forgets every session at once", async () => {
    await using server = await startHttpFixture({ "tools/list": (exchange) => exchange.raw("", 404, {}) }, "s");
    await using setup = await openProvider({ url: server.url });
    await soon(80);
    expect(server.count("initialize")).toBeLessThan(5);
    expect(setup.host.names("tool")).toEqual([]);
  });

  test("finds an old server behind a plain URL", async () => {
    await using server = new HttpFixture({
      GET(exchange) {
        exchange.server.listeners.push(exchange.stream());
        exchange.response.write("event: endpoint\ndata: /messages?id=1\n\n");
      },
      initialize(exchange) {
        if (exchange.request.url === "/mcp") return exchange.raw("", 405, {});
        exchange.raw("", 202, {});
        const result = { protocolVersion: "2024-11-05", capabilities: {}, serverInfo: { name: "old", version: "1" } };
        exchange.server.listeners.at(-1)?.event({ jsonrpc: "2.0", id: exchange.message.id, result });
      },
    });
    await server.listen();
    await using setup = await openProvider({ url: server.url });
    expect(setup.host.status).toBe("ok");
  });

  test("leaves a server alone that may not be restarted", async () => {
    await using server = await startHttpFixture({ initialize: (exchange) => exchange.raw("", 500, {}) });
    await using setup = await openProvider({ url: server.url, restart: "never" });
    expect(await failing(setup.provider.run(toolCall("x"), new FakeOut()))).toMatchObject({
      code: "PROVIDER_UNREACHABLE",
    });
    await soon(30);
    expect(server.count("initialize")).toBe(1);
  });

  test("falls back to the shared list when a client's own session cannot be opened", async () => {
    await using server = await startHttpFixture();
    await using setup = await openProvider({ url: server.url, sessions: "per-client" });
    server.on.initialize = (exchange) => exchange.raw("", 500, {});
    expect(await setup.provider.scope(fakeSession("a"))).toBe("shared");
    expect(setup.host.status).toBe("ok");
  });
});
