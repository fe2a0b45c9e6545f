/** A server over HTTP that goes away and comes back: what is said of it, whoever notices first. */
import { describe, expect, test, vi } from "vitest";
import { FakeOut, fakeSession, toolCall } from "../../../tests/kit/fake-host.ts";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { type Handler, HttpFixture, startHttpFixture } from "./fixtures/http-server.ts";
import { complete, ModernFixture, startModern, VERSION } from "./fixtures/modern-http.ts";
import { openProvider, type Setup } from "./fixtures/setup.ts";

const patient = { timeout: 10_000 };
const asking = { capabilities: { elicitation: {} }, canBeAsked: true };
const STREAM: Record<string, Handler> = { GET: (exchange) => void exchange.stream() };
/** Without anything to listen to. */
const QUIET: Record<string, Handler> = {
  "server/discover": (exchange) =>
    exchange.result(complete({ supportedVersions: [VERSION], capabilities: { tools: {} } })),
};

const becomes = (setup: Setup, status: string) => vi.waitFor(() => expect(setup.host.status).toBe(status), patient);

/** Stops the server; gives how to start one in its place. */
async function stop(server: HttpFixture): Promise<() => Promise<HttpFixture>> {
  const { port, on, sessionId } = server;
  await server.stop();
  return () => {
    const next = server instanceof ModernFixture ? new ModernFixture({}) : new HttpFixture(on);
    next.sessionId = sessionId;
    return next.listen(port);
  };
}

function failing(setup: Setup, parts: object): Promise<unknown> {
  return setup.provider.run(toolCall("echo", {}, parts), new FakeOut()).catch((error: unknown) => error);
}

describe("a server over HTTP that has died", () => {
  test.each([
    ["2025, in a client's own session", () => startHttpFixture({}, "s"), fakeSession("a")],
    [
      "2026, for a client that can be asked",
      () => startModern(QUIET),
      fakeSession("a", { ...asking, protocol: VERSION }),
    ],
  ])(
    "is unreachable with the first call that cannot connect, and ok again by itself: %s",
    async (_, start, session) => {
      const server = await start();
      await using setup = await openProvider({ url: server.url });
      await setup.provider.run(toolCall("echo", {}, { session }), new FakeOut());
      const again = await stop(server);
      await vi.waitFor(
        async () => expect(await failing(setup, { session })).toMatchObject({ code: "PROVIDER_UNREACHABLE" }),
        patient,
      );
      await becomes(setup, "unreachable");
      expect(setup.host.names("tool")).toContain("echo");
      await using _next = await again();
      await becomes(setup, "ok");
    },
  );

  test("is unreachable with a client whose session cannot be opened", async () => {
    const server = await startHttpFixture({}, "s");
    await using setup = await openProvider({ url: server.url });
    await stop(server);
    expect(await setup.provider.scope(fakeSession("a"))).toBe("shared");
    await becomes(setup, "unreachable");
  });

  test.each([
    ["2025", () => startHttpFixture(STREAM, "s")],
    ["2026", () => startModern()],
  ])(
    "is unreachable when its stream cannot be opened again, without any call, and ok when it can: %s",
    async (_, start) => {
      const server = await start();
      await using setup = await openProvider({ url: server.url });
      const again = await stop(server);
      await becomes(setup, "unreachable");
      await using _next = await again();
      await becomes(setup, "ok");
    },
  );

  test.each([
    ["2025", () => startHttpFixture()],
    ["2026", () => startModern(QUIET)],
  ])("is unreachable within half a minute where it has no stream and nobody calls: %s", async (_, start) => {
    const server = await start();
    const time = new ManualTime();
    await using setup = await openProvider({ url: server.url }, { clock: time, timers: time });
    const again = await stop(server);
    time.advance(30_000);
    await becomes(setup, "unreachable");
    await using _next = await again();
    time.advance(1_000);
    await becomes(setup, "ok");
  });

  test("is unreachable when its lists are read again, and not invalid", async () => {
    const server = await startHttpFixture();
    const time = new ManualTime();
    await using setup = await openProvider({ url: server.url, idle: "1h" }, { clock: time, timers: time });
    await stop(server);
    time.advance(61_000);
    setup.provider.refresh?.(undefined, "tool");
    await becomes(setup, "unreachable");
    expect(setup.host.states.map(({ status }) => status)).toEqual(["starting", "ok", "unreachable"]);
  });
});

describe("a server over HTTP that is there", () => {
  test("stays ok while it is slow, and when it turns one client away", async () => {
    const slow = Promise.withResolvers<void>();
    await using server = await startHttpFixture(
      { "tools/call": () => slow.resolve(), ping: (exchange) => exchange.result({}) },
      "s",
    );
    const time = new ManualTime();
    await using setup = await openProvider({ url: server.url }, { clock: time, timers: time });
    const call = toolCall("echo", {}, { session: fakeSession("a") });
    setup.provider.run(call, new FakeOut()).catch(() => undefined);
    await slow.promise;
    setup.provider.reply(call.id, { type: "cancel", reason: "deadline", holdMs: 0 });
    server.on["tools/call"] = (exchange) => exchange.raw("", 421, {});
    expect(await failing(setup, { session: fakeSession("b") })).toMatchObject({ code: "PROVIDER_UNREACHABLE" });
    await vi.waitFor(() => expect(server.count("ping")).toBe(1));
    server.on.ping = () => undefined;
    time.advance(30_000);
    await vi.waitFor(() => expect(server.count("ping")).toBe(2));
    time.advance(10_000);
    expect(setup.host.states.map(({ status }) => status)).toEqual(["starting", "ok"]);
  });
});
