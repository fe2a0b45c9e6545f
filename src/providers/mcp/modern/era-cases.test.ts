import { describe, expect, test } from "vitest";
import { FakeOut, fakeCall, fakeSession, nodeTimers, toolCall } from "../../../../tests/kit/fake-host.ts";
import type { CallEvent, Timers } from "../../../contract/index.ts";
import type { Exchange, HttpFixture } from "../fixtures/http-server.ts";
import { complete, envelopeOf, META, startModern, VERSION } from "../fixtures/modern-http.ts";
import { openProvider } from "../fixtures/setup.ts";

/** Every pause and every patience, a thousandth as long. */
const quick: Timers = { after: (ms, fire) => nodeTimers.after(ms / 1000, fire) };

const callsTo = (server: HttpFixture) => server.seen.filter(({ rpc }) => rpc.method === "tools/call");

describe("the era of a server over HTTP", () => {
  test("is not decided by one that says nothing; the next answer decides", async () => {
    let isUp = false;
    await using server = await startModern({
      "server/discover": (exchange) => {
        if (isUp) exchange.result(complete({ supportedVersions: [VERSION], capabilities: { tools: {} } }));
      },
    });
    await using setup = await openProvider({ url: server.url }, { timers: quick });
    expect(setup.host.status).not.toBe("ok");
    expect(server.count("initialize")).toBe(0);
    isUp = true;
    await expect.poll(() => setup.host.status).toBe("ok");
    expect(server.count("initialize")).toBe(0);
  });

  test("is not decided by one that nobody answers for; the next answer decides", async () => {
    const server = await startModern();
    const { port, url } = server;
    await server.stop();
    await using setup = await openProvider({ url });
    expect(setup.host.status).toBe("unreachable");
    await using again = await startModern();
    await again.stop();
    await again.listen(port);
    await expect.poll(() => setup.host.status, { timeout: 5000 }).toBe("ok");
    expect(again.count("initialize")).toBe(0);
  });
});

describe("a client of the 2025 era at a server of 2026-07-28", () => {
  test("has its log level in the requests after it was set, and in none before", async () => {
    await using server = await startModern();
    await using setup = await openProvider({ url: server.url });
    const session = fakeSession("a", { capabilities: { roots: {} } });
    const run = () => setup.provider.run(toolCall("echo", {}, { session }), new FakeOut());
    const setLevel = (level: string) =>
      setup.provider.notify(session, "logging/setLevel", fakeCall({ input: { level } }).input);
    await run();
    setLevel("warning");
    await run();
    setLevel("debug");
    await run();
    const levels = callsTo(server).map(({ rpc }) => envelopeOf(rpc)[`${META}logLevel`]);
    expect(levels).toEqual([undefined, "warning", "debug"]);
    const others = server.seen.filter(({ rpc }) => rpc.method !== "tools/call" && rpc.params);
    expect(others.every(({ rpc }) => !(`${META}logLevel` in envelopeOf(rpc)))).toBe(true);
  });

  test("loses no update while the stream that brings them is replaced", async () => {
    await using server = await startModern();
    await using setup = await openProvider({ url: server.url });
    const subscribe = (uri: string, method = "resources/subscribe") =>
      setup.provider.run(
        fakeCall({ method, verb: "subscribe", input: { uri }, session: fakeSession("a") }),
        new FakeOut(),
      );
    const updates = () => setup.host.notices.map(({ payload }) => (payload.value() as { uri: string }).uri);
    await subscribe("test://1");
    await expect.poll(() => server.listening.length).toBe(1);
    const listen = server.on["subscriptions/listen"];
    const held = Promise.withResolvers<Exchange>();
    server.on["subscriptions/listen"] = (exchange) => held.resolve(exchange);
    const second = subscribe("test://2");
    const waiting = await held.promise;
    server.say(server.listening[0] as never, "notifications/resources/updated", { uri: "test://1" });
    await expect.poll(updates).toEqual(["test://1"]);
    listen?.(waiting);
    await second;
    await expect.poll(() => server.listening.length).toBe(1);
    for (const uri of ["test://1", "test://2"])
      server.say(server.listening[0] as never, "notifications/resources/updated", { uri });
    await expect.poll(updates).toEqual(["test://1", "test://1", "test://2"]);
    server.on["subscriptions/listen"] = listen as never;
    await subscribe("test://1", "resources/unsubscribe");
    await expect.poll(() => server.listening.map(({ wanted }) => wanted.resourceSubscriptions)).toEqual([["test://2"]]);
  });

  test("hears no progress after the answer, and under its own token whatever that is", async () => {
    const report = (exchange: Exchange, progress: number) =>
      exchange.event({
        jsonrpc: "2.0",
        method: "notifications/progress",
        params: { progressToken: exchange.progressToken, progress },
      });
    await using server = await startModern({
      "tools/call"(exchange) {
        exchange.stream();
        report(exchange, 1);
        exchange.event({ jsonrpc: "2.0", id: exchange.message.id, result: complete({ content: [] }) });
        report(exchange, 2);
        exchange.end();
      },
    });
    await using setup = await openProvider({ url: server.url });
    for (const progressToken of ["text", 7, 0]) {
      const out = new FakeOut();
      await setup.provider.run(toolCall("echo", {}, { input: { _meta: { progressToken } } }), out);
      expect(out.events.map(({ type }: CallEvent) => type)).toEqual(["progress", "end"]);
    }
    // Each under a token of the gateway's own, so that equal ones of two clients stay apart.
    expect(new Set(callsTo(server).map(({ rpc }) => envelopeOf(rpc).progressToken)).size).toBe(3);
  });
});
