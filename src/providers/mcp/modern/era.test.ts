import { describe, expect, test } from "vitest";
import { FakeOut, fakeSession, monotonicClock, nodeTimers, toolCall } from "../../../../tests/kit/fake-host.ts";
import type { Timers } from "../../../contract/index.ts";
import { type Exchange, type Handler, type HttpFixture, startHttpFixture } from "../fixtures/http-server.ts";
import { complete, fault, ModernFixture, startModern, VERSION } from "../fixtures/modern-http.ts";
import { modernStdioConfig, openProvider, stdioConfig } from "../fixtures/setup.ts";

const methodsOf = (server: HttpFixture) =>
  server.seen.filter(({ method }) => method === "POST").map(({ rpc }) => rpc.method);
const nobody = (exchange: Exchange, status: number, code = -32000) =>
  exchange.json({ jsonrpc: "2.0", id: null, error: { code, message: "Bad Request: Server not initialized" } }, status);

/** The time a silent process is given, and all other pauses, a fifth as long: a second is enough to start on a busy machine. */
const quick: Timers = { after: (ms, fire) => nodeTimers.after(ms / 5, fire) };

const textOf = (out: FakeOut) => JSON.parse((out.result as { content: [{ text: string }] }).content[0].text);

describe("the era of a server over HTTP", () => {
  const legacy: [string, Handler][] = [
    ["400 and an error for nobody", (exchange) => nobody(exchange, 400)],
    ["404 without a message", (exchange) => exchange.raw("not here", 404, {})],
    ["405", (exchange) => exchange.raw("", 405, {})],
    ["200 and an unknown method", (exchange) => fault(exchange, { code: -32601, message: "unknown" })],
    ["200 and something else", (exchange) => exchange.raw("<html>", 200, { "content-type": "text/html" })],
    ["a result without versions", (exchange) => exchange.result({})],
    ["other versions alone", (exchange) => exchange.result({ supportedVersions: ["2099-01-01"], capabilities: {} })],
    [
      "-32022 with old versions alone",
      (exchange) => fault(exchange, { code: -32022, message: "no", data: { supported: ["2025-11-25"] } }, 400),
    ],
  ];
  test.each(legacy)("is the old one after %s", async (_, discover) => {
    await using server = await startHttpFixture({ "server/discover": discover }, "s-1");
    await using setup = await openProvider({ url: server.url });
    expect(setup.host.status).toBe("ok");
    expect(methodsOf(server).slice(0, 3)).toEqual(["server/discover", "initialize", "notifications/initialized"]);
    const list = server.seen.find(({ rpc }) => rpc.method === "tools/list");
    expect(list?.headers).toMatchObject({ "mcp-session-id": "s-1", "mcp-protocol-version": "2025-11-25" });
    expect(list?.rpc.params).toBeUndefined();
    await setup.provider.scope(fakeSession("a", { capabilities: { roots: {} } }));
    expect(server.count("server/discover")).toBe(1);
  });

  test("is the new one after -32022 that lists the very version sent, and a second try", async () => {
    let tries = 0;
    await using server = await startModern({
      "server/discover": (exchange) =>
        ++tries === 1
          ? fault(exchange, { code: -32022, message: "no", data: { supported: [VERSION], requested: VERSION } }, 400)
          : exchange.result(complete({ supportedVersions: [VERSION], capabilities: { tools: {} } })),
    });
    await using setup = await openProvider({ url: server.url });
    expect(setup.host.status).toBe("ok");
    expect(methodsOf(server).slice(0, 3)).toEqual(["server/discover", "server/discover", "tools/list"]);
  });

  test.each([-32020, -32021])("is the new one after %d, and the server is not used as an old one", async (code) => {
    await using server = await startModern({
      "server/discover": (exchange) => fault(exchange, { code, message: "no" }, 400),
    });
    await using setup = await openProvider({ url: server.url });
    expect(setup.host.status).toBe("invalid");
    expect(server.count("initialize")).toBe(0);
  });

  test.each([
    [401, "auth_required"],
    [403, "auth_required"],
    [429, "invalid"],
    [503, "invalid"],
  ])("is not decided by HTTP %d; the next answer decides", async (status, state) => {
    let isUp = false;
    await using server = await startModern({
      "server/discover": (exchange) =>
        isUp
          ? exchange.result(complete({ supportedVersions: [VERSION], capabilities: { tools: {} } }))
          : exchange.raw("", status, {}),
    });
    await using setup = await openProvider({ url: server.url });
    expect(setup.host.status).toBe(state);
    expect(server.count("initialize")).toBe(0);
    isUp = true;
    await expect.poll(() => setup.host.status).toBe("ok");
    expect(server.count("initialize")).toBe(0);
  });

  test("still falls back to HTTP+SSE of 2024", async () => {
    await using server = await startHttpFixture({
      "server/discover": (exchange) => exchange.raw("", 405, {}),
      initialize: (exchange) => exchange.raw("", 405, {}),
      GET: (exchange) => exchange.stream().response.write("event: endpoint\ndata: /mcp?old\n\n"),
    });
    await using setup = await openProvider({ url: server.url, restart: "never" });
    expect(methodsOf(server)).toEqual(["server/discover", "initialize", "initialize"]);
    expect(setup.host.status).toBe("invalid");
  });

  test("can be pinned", async () => {
    await using both = await startModern({
      initialize: (exchange) =>
        exchange.result({ protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: {} }),
    });
    await using old = await openProvider({ url: both.url, era: "2025" });
    expect(old.host.status).toBe("ok");
    expect(methodsOf(both)[0]).toBe("initialize");
    await using legacyOnly = await startHttpFixture();
    await using modern = await openProvider({ url: legacyOnly.url, era: "2026" });
    expect(modern.host.status).toBe("invalid");
    expect(legacyOnly.count("initialize")).toBe(0);
  });

  test("is asked for again when the old one was found a day ago, and only new calls change over", async () => {
    let days = 0;
    const clock = { now: () => monotonicClock.now() + days * 24 * 3_600_000 };
    const modern = new ModernFixture({});
    const slow = Promise.withResolvers<void>();
    await using server = await startHttpFixture({
      "tools/call": (exchange) => void slow.promise.then(() => exchange.result({ content: [], old: true })),
    });
    await using setup = await openProvider(
      { url: server.url, idle: 80_000 },
      { clock, timers: { after: (ms, fire) => nodeTimers.after(ms / 20, fire) } },
    );
    const out = new FakeOut();
    const running = setup.provider.run(toolCall("echo", {}, { deadline: Number.POSITIVE_INFINITY }), out);
    await expect.poll(() => server.count("tools/call")).toBe(1);
    Object.assign(server.on, modern.on);
    days = 1;
    await expect.poll(() => server.count("server/discover"), { timeout: 20_000 }).toBeGreaterThanOrEqual(3);
    await expect.poll(() => server.count("subscriptions/listen"), { timeout: 20_000 }).toBe(1);
    slow.resolve();
    await running;
    expect(out.result).toMatchObject({ old: true });
    const next = new FakeOut();
    await setup.provider.run(toolCall("echo", {}, { deadline: Number.POSITIVE_INFINITY }), next);
    expect(server.seen.at(-1)?.headers["mcp-protocol-version"]).toBe(VERSION);
    expect(server.count("initialize")).toBe(1);
  });

  test.each([
    ["400 for nobody", (exchange: Exchange) => nobody(exchange, 400)],
    ["404", (exchange: Exchange) => exchange.raw("", 404, {})],
    ["-32601", (exchange: Exchange) => fault(exchange, { code: -32601, message: "unknown" })],
  ])("is asked for again when a call gets %s from a server that was downgraded", async (_, refuse) => {
    await using server = await startModern();
    await using setup = await openProvider({ url: server.url });
    const old: Record<string, Handler> = {
      "server/discover": (exchange) => nobody(exchange, 400),
      "tools/call": (exchange) =>
        exchange.request.headers["mcp-protocol-version"] === VERSION
          ? refuse(exchange)
          : exchange.result({ content: [], old: true }),
      initialize: (exchange) =>
        exchange.result({ protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: {} }),
    };
    Object.assign(server.on, old);
    const out = new FakeOut();
    await setup.provider.run(toolCall("echo"), out);
    expect(out.result).toMatchObject({ old: true });
  });

  test("is confirmed once, and the call fails as it did, when the server is still of the new one", async () => {
    await using server = await startModern({
      "tools/call": (exchange) => fault(exchange, { code: -32601, message: "not I" }, 404),
    });
    await using setup = await openProvider({ url: server.url });
    const out = new FakeOut();
    await setup.provider.run(toolCall("echo"), out);
    expect(out.result).toEqual({ code: -32601, message: "not I" });
    expect(server.count("server/discover")).toBe(2);
    expect(server.count("tools/call")).toBe(1);
  });
});

describe("the era of a server over stdio", () => {
  const seenBy = async (config: object, timers = nodeTimers) => {
    await using setup = await openProvider(config, { timers });
    const out = new FakeOut();
    await setup.provider.run(toolCall("seen"), out);
    const { seen } = textOf(out) as { seen: { method: string }[] };
    return {
      methods: seen.map(({ method }) => method),
      starts: setup.meter.counts.get("isthmus_upstream_starts_total test"),
    };
  };

  test("is found on the pipe itself, without a second process", async () => {
    const { methods, starts } = await seenBy(modernStdioConfig());
    expect(methods[0]).toBe("server/discover");
    expect(methods).not.toContain("initialize");
    expect(starts).toBe(1);
    expect((await seenBy(modernStdioConfig({ era: "dual" }))).methods).not.toContain("initialize");
  });

  test("is the old one for a process that does not know the question", async () => {
    await using setup = await openProvider(stdioConfig());
    expect(setup.host.status).toBe("ok");
    expect(setup.meter.counts.get("isthmus_upstream_starts_total test")).toBe(1);
  });

  test("is the old one for a process that says nothing, on the same pipe", async () => {
    const { methods, starts } = await seenBy(modernStdioConfig({ era: "silent" }), quick);
    expect(methods.slice(0, 3)).toEqual(["server/discover", "initialize", "notifications/initialized"]);
    expect(starts).toBe(1);
  });

  test("is the old one for a process that ends on the question; it is started once more", async () => {
    const { methods, starts } = await seenBy(modernStdioConfig({ era: "exits" }));
    expect(methods[0]).toBe("initialize");
    expect(starts).toBe(2);
  });

  test("is the new one for a process that takes long to start", async () => {
    const { methods, starts } = await seenBy(modernStdioConfig({ era: "slow", delayMs: 1_500 }), quick);
    expect(methods.slice(0, 2)).toEqual(["server/discover", "initialize"]);
    expect(methods).not.toContain("notifications/initialized");
    expect(starts).toBe(1);
  });
});
