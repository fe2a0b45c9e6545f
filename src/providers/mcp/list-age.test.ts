import { describe, expect, test, vi } from "vitest";
import { startHttpFixture } from "./fixtures/http-server.ts";
import { complete, startModern } from "./fixtures/modern-http.ts";
import { openProvider } from "./fixtures/setup.ts";

const LEGACY = { era: "2025" };
const tool = (name: string) => ({ name, inputSchema: { type: "object" } });
const declaring = (tools: object) => ({
  protocolVersion: "2025-11-25",
  capabilities: { tools },
  serverInfo: { name: "f", version: "1" },
});

/** Time that the test can let pass at once; everything else runs as always. */
function skippingClock() {
  let skipped = 0;
  const skip = (ms: number) => {
    skipped += ms;
  };
  return { now: () => performance.now() + skipped, skip };
}

/** Lets a listing that must not be there show itself. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 30));

describe("a list that nobody tells changes of", () => {
  test("is read again when somebody lists it after its time, once, and what changed is offered", async () => {
    const tools = [tool("one")];
    await using server = await startHttpFixture({ "tools/list": (exchange) => exchange.result({ tools }) });
    const clock = skippingClock();
    await using setup = await openProvider({ ...LEGACY, url: server.url }, { clock });
    const { provider, host } = setup;
    provider.refresh?.(undefined, "tool");
    clock.skip(59_000);
    provider.refresh?.(undefined, "tool");
    await settle();
    expect(server.count("tools/list")).toBe(1);
    tools.push(tool("two"));
    clock.skip(1_100);
    await settle();
    expect(server.count("tools/list"), "nobody lists").toBe(1);
    for (let n = 0; n < 5; n++) provider.refresh?.(undefined, "tool");
    await vi.waitFor(() => expect(host.names("tool")).toEqual(["one", "two"]));
    for (let n = 0; n < 5; n++) provider.refresh?.(undefined, "tool");
    await settle();
    expect(server.count("tools/list")).toBe(2);
  });

  test("is read again after the time that the config gives", async () => {
    await using server = await startHttpFixture();
    const clock = skippingClock();
    await using setup = await openProvider({ ...LEGACY, url: server.url, listTtl: "5s" }, { clock });
    clock.skip(5_100);
    setup.provider.refresh?.(undefined, "tool");
    await vi.waitFor(() => expect(server.count("tools/list")).toBe(2));
  });

  test("of a server that says it would tell, and has no way to, is read again", async () => {
    await using server = await startHttpFixture({
      initialize: (exchange) => exchange.result(declaring({ listChanged: true })),
    });
    const clock = skippingClock();
    await using setup = await openProvider({ ...LEGACY, url: server.url }, { clock });
    clock.skip(61_000);
    setup.provider.refresh?.(undefined, "tool");
    await vi.waitFor(() => expect(server.count("tools/list")).toBe(2));
  });

  test("is believed as short as a server of 2026-07-28 says, though not for less than a second", async () => {
    await using server = await startModern({
      "server/discover": (exchange) =>
        exchange.result(complete({ supportedVersions: ["2026-07-28"], capabilities: { tools: {} } })),
    });
    const clock = skippingClock();
    await using setup = await openProvider({ url: server.url }, { clock });
    setup.provider.refresh?.(undefined, "tool");
    await settle();
    expect(server.count("tools/list")).toBe(1);
    clock.skip(1_100);
    setup.provider.refresh?.(undefined, "tool");
    await vi.waitFor(() => expect(server.count("tools/list")).toBe(2));
  });

  test("is read again soon when it could not be read, whatever the server would tell", async () => {
    let isBroken = true;
    await using server = await startModern({
      "tools/list": (exchange) =>
        isBroken
          ? exchange.json({ jsonrpc: "2.0", id: exchange.message.id, error: { code: -32603, message: "no" } })
          : exchange.result(complete({ tools: [tool("one")] })),
    });
    const clock = skippingClock();
    await using setup = await openProvider({ url: server.url }, { clock });
    expect(setup.host.status).toBe("invalid");
    isBroken = false;
    setup.provider.refresh?.(undefined, "prompt");
    await settle();
    expect(setup.host.status).toBe("invalid");
    clock.skip(5_100);
    setup.provider.refresh?.(undefined, "tool");
    await vi.waitFor(() => expect(setup.host.status).toBe("ok"));
    expect(setup.host.names("tool")).toEqual(["one"]);
  });
});

describe("a list whose changes are told", () => {
  test("is not read again, on a stream of 2025", async () => {
    await using server = await startHttpFixture({
      initialize: (exchange) => exchange.result(declaring({ listChanged: true })),
      GET: (exchange) => void exchange.stream(),
    });
    const clock = skippingClock();
    await using setup = await openProvider({ ...LEGACY, url: server.url }, { clock });
    clock.skip(3_600_000);
    setup.provider.refresh?.(undefined, "tool");
    await settle();
    expect(server.count("tools/list")).toBe(1);
  });

  test("is not read again, on a request of 2026 that listens", async () => {
    await using server = await startModern();
    const clock = skippingClock();
    await using setup = await openProvider({ url: server.url }, { clock });
    await vi.waitFor(() => expect(server.listening).toHaveLength(1));
    await settle();
    clock.skip(3_600_000);
    setup.provider.refresh?.(undefined, "tool");
    await settle();
    expect(server.count("tools/list")).toBe(1);
  });
});
