import { describe, expect, test, vi } from "vitest";
import { FakeOut, fakeCall, fakeSession, toolCall } from "../../../tests/kit/fake-host.ts";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { payload, type SessionRef } from "../../contract/index.ts";
import { CartServer } from "./fixtures/cart-server.ts";
import { FakeMemory } from "./fixtures/memory.ts";
import { openProvider, type Setup } from "./fixtures/setup.ts";

type Cart = { session: string; cart: string[] };

const client = fakeSession("c1", { protocol: "2025-11-25", capabilities: { roots: {} } });

async function add({ provider }: Setup, what: string, session: SessionRef = client): Promise<Cart> {
  const out = new FakeOut();
  await provider.run(toolCall(what, {}, { session }), out);
  return (out.result as { structuredContent: Cart }).structuredContent;
}

function subscribe({ provider }: Setup, uri: string): Promise<void> {
  const parts = { verb: "subscribe", method: "resources/subscribe", input: { uri }, session: client } as const;
  return provider.run(fakeCall(parts), new FakeOut());
}

/** Gateway processes one after the other, that remember in common what a killed one knew. */
function openIn(server: CartServer, memory: FakeMemory): Promise<Setup> {
  return openProvider({ url: server.url, era: "2025" }, { memory });
}

describe("an upstream session whose client moved to another process", () => {
  test("goes on: the server sees one session, opened once, with what it kept in it", async () => {
    await using server = await CartServer.start();
    const memory = new FakeMemory();
    await using first = await openIn(server, memory);
    const { session } = await add(first, "apple");
    await using second = await openIn(server, memory); // the first one has said nothing: it may as well be dead
    const openedBefore = server.opened;
    expect(await add(second, "pear")).toEqual({ session, cart: ["apple", "pear"] });
    expect(server.opened).toBe(openedBefore);
    expect(server.http.seen.findLast(({ rpc }) => rpc.method === "tools/call")?.headers["mcp-protocol-version"]).toBe(
      "2025-06-18",
    );
    const ids = server.idsOf(session);
    expect(new Set(ids).size).toBe(ids.length); // no number twice in one session, whoever gave it
    await second.provider.scope(client);
    expect(second.host.names("tool", "session:c1")).toEqual(["add"]);
  });

  test("is known to the memory before the first call has its answer, and later calls write nothing", async () => {
    await using server = await CartServer.start();
    const memory = new FakeMemory();
    await using setup = await openIn(server, memory);
    server.http.on["tools/call"] = (exchange) => {
      const known = memory.of("c1");
      exchange.result({ content: [], structuredContent: { session: known?.id, cart: [] } });
    };
    const { session } = await add(setup, "apple");
    expect(server.methodsOf(session)).toContain("tools/call");
    const { writes } = memory;
    for (let count = 0; count < 5; count++) await add(setup, "pear");
    expect(memory.writes).toBe(writes);
  });

  test("is opened anew when the server has forgotten it, and the call is made once", async () => {
    await using server = await CartServer.start();
    const memory = new FakeMemory();
    await using first = await openIn(server, memory);
    const { session } = await add(first, "apple");
    await subscribe(first, "file:///a");
    await vi.waitFor(() => expect(memory.of("c1")?.uris).toEqual(["file:///a"]));
    server.carts.delete(session);
    await using second = await openIn(server, memory);
    const now = await add(second, "pear");
    expect(now.session).not.toBe(session);
    expect(now.cart).toEqual(["pear"]);
    await vi.waitFor(() => expect(server.methodsOf(now.session)).toContain("resources/subscribe"));
    expect(memory.of("c1")?.id).toBe(now.session);
  });

  test.each([
    ["HTTP 400 and an error for nobody", { jsonrpc: "2.0", id: null, error: { code: -32000, message: "no session" } }],
    ["HTTP 400 and nothing else", {}],
  ])("is opened anew by a server that refuses unknown ones with %s", async (_, body) => {
    await using server = await CartServer.start();
    server.refuse = (exchange) => exchange.json(body, 400);
    const memory = new FakeMemory();
    await using first = await openIn(server, memory);
    const { session } = await add(first, "apple");
    server.carts.delete(session);
    await using second = await openIn(server, memory);
    expect(await add(second, "pear")).toMatchObject({ cart: ["pear"] });
  });

  test("is replaced as ever when the server forgets it later", async () => {
    await using server = await CartServer.start();
    const memory = new FakeMemory();
    await using first = await openIn(server, memory);
    const { session } = await add(first, "apple");
    await using second = await openIn(server, memory);
    await add(second, "pear");
    server.carts.delete(session);
    expect(await add(second, "plum")).toMatchObject({ cart: ["plum"] });
  });

  test("is not given up when the server cannot be reached for a moment", async () => {
    await using server = await CartServer.start();
    const memory = new FakeMemory();
    await using first = await openIn(server, memory);
    const { session } = await add(first, "apple");
    await using second = await openIn(server, memory);
    const ping = server.http.on.ping;
    server.http.on.ping = (exchange) => exchange.raw("", 503, {});
    await expect(add(second, "pear")).rejects.toMatchObject({ code: "PROVIDER_UNREACHABLE" });
    if (ping) server.http.on.ping = ping;
    expect(await add(second, "plum")).toEqual({ session, cart: ["apple", "plum"] });
  });

  test("hears what was said since the last event that the former process heard", async () => {
    await using server = await CartServer.start();
    const memory = new FakeMemory();
    await using first = await openIn(server, memory);
    const { session } = await add(first, "apple");
    const stream = server.streams.find((one) => one.session === session);
    stream?.exchange.event({ jsonrpc: "2.0", method: "notifications/custom", params: { n: 1 } }, "e7");
    await vi.waitFor(() => expect(memory.of("c1")?.lastEventId).toBe("e7"));
    await using second = await openIn(server, memory);
    await add(second, "pear");
    const next = server.streams.find((one) => one.session === session && one !== stream);
    expect(next?.lastEventId).toBe("e7");
    next?.exchange.event({ jsonrpc: "2.0", method: "notifications/custom", params: { n: 2 } }, "e8");
    await vi.waitFor(() =>
      expect(second.host.notices).toMatchObject([{ to: { session: "c1" }, method: "notifications/custom" }]),
    );
  });

  test("keeps its log level and its subscriptions, and the server hears of neither again", async () => {
    await using server = await CartServer.start();
    const memory = new FakeMemory();
    await using first = await openIn(server, memory);
    const { session } = await add(first, "apple");
    first.provider.notify(client, "logging/setLevel", payload('{"level":"warning"}'));
    await subscribe(first, "file:///a");
    await vi.waitFor(() => expect(memory.of("c1")).toMatchObject({ level: '"warning"', uris: ["file:///a"] }));
    await using second = await openIn(server, memory);
    second.provider.notify(client, "logging/setLevel", payload('{"level":"warning"}'));
    await add(second, "pear");
    await second.provider.scope(client);
    const told = server.methodsOf(session).filter((method) => method === "logging/setLevel");
    expect(told).toHaveLength(1);
    expect(server.methodsOf(session).filter((method) => method === "resources/subscribe")).toHaveLength(1);
    server.carts.delete(session);
    const { session: next } = await add(second, "plum");
    await vi.waitFor(() =>
      expect(server.methodsOf(next)).toEqual(expect.arrayContaining(["logging/setLevel", "resources/subscribe"])),
    );
  });

  test("is not taken up by a session that declares something else, nor for a server at another address", async () => {
    await using server = await CartServer.start();
    await using elsewhere = await CartServer.start();
    const memory = new FakeMemory();
    await using first = await openIn(server, memory);
    const { session } = await add(first, "apple");
    await using second = await openIn(server, memory);
    const other = fakeSession("c1", { protocol: "2025-11-25", capabilities: { sampling: {} } });
    expect((await add(second, "pear", other)).session).not.toBe(session);
    await using third = await openIn(elsewhere, memory);
    await add(third, "pear");
    expect(elsewhere.methodsOf(session)).toEqual([]);
  });
});

describe("the end of a client's session", () => {
  test("ends the upstream session once, by whoever is home then", async () => {
    await using server = await CartServer.start();
    const memory = new FakeMemory();
    await using first = await openIn(server, memory);
    const { session } = await add(first, "apple");
    first.provider.release(client, "moved");
    await using second = await openIn(server, memory);
    await add(second, "pear");
    expect(server.deleted).toEqual([]);
    second.provider.release(client);
    await vi.waitFor(() => expect(memory.entries.size).toBe(0));
    expect(server.deleted).toEqual([session]);
  });

  test("ends it also where nothing was done in it since it moved", async () => {
    await using server = await CartServer.start();
    const memory = new FakeMemory();
    await using first = await openIn(server, memory);
    const { session } = await add(first, "apple");
    first.provider.release(client, "moved");
    await using second = await openIn(server, memory);
    second.provider.release(client, "ended");
    await vi.waitFor(() => expect(memory.entries.size).toBe(0));
    expect(server.deleted).toEqual([session]);
  });

  test("that moved away leaves the upstream session, gives back its stream, and ends what runs as unknown", async () => {
    await using server = await CartServer.start();
    const memory = new FakeMemory();
    await using first = await openIn(server, memory);
    const { session } = await add(first, "apple");
    const stream = server.streams.find((one) => one.session === session);
    const closed = new Promise((resolve) => stream?.exchange.response.once("close", resolve));
    const reached = Promise.withResolvers<void>();
    server.http.on["tools/call"] = () => reached.resolve();
    const running = add(first, "pear").catch((error: unknown) => error);
    await reached.promise;
    first.provider.release(client, "moved");
    expect(await running).toMatchObject({ code: "OUTCOME_UNKNOWN" });
    await closed;
    expect(first.provider.upstreamCount()).toBe(1); // the shared one
    await first.provider.close();
    expect(server.carts.has(session)).toBe(true);
    expect(server.deleted).not.toContain(session);
    expect(memory.of("c1")?.id).toBe(session);
  });

  test("writes what was still to be written when it moves away", async () => {
    await using server = await CartServer.start();
    const memory = new FakeMemory();
    const time = new ManualTime();
    await using first = await openProvider({ url: server.url, era: "2025" }, { memory, timers: time });
    await add(first, "apple");
    await subscribe(first, "file:///a");
    expect(memory.of("c1")?.uris).toEqual([]);
    first.provider.release(client, "moved");
    await vi.waitFor(() => expect(memory.of("c1")?.uris).toEqual(["file:///a"]));
  });

  test("ends the upstream session when it moves and nothing is remembered", async () => {
    await using server = await CartServer.start();
    await using setup = await openProvider({ url: server.url, era: "2025" });
    const { session } = await add(setup, "apple");
    setup.provider.release(client, "moved");
    await vi.waitFor(() => expect(server.deleted).toEqual([session]));
  });
});

describe("the memory of upstream sessions", () => {
  test("is renewed while the session lasts, though nothing changes", async () => {
    await using server = await CartServer.start();
    const memory = new FakeMemory();
    const time = new ManualTime();
    const config = { url: server.url, era: "2025", idle: "2h" };
    await using setup = await openProvider(config, { memory, timers: time });
    await add(setup, "apple");
    const { writes } = memory;
    time.advance(15 * 60_000);
    await vi.waitFor(() => expect(memory.writes).toBe(writes + 1));
  });

  test("that does not answer when the session is opened is written later; calls are served meanwhile", async () => {
    await using server = await CartServer.start();
    const memory = new FakeMemory();
    const time = new ManualTime();
    await using setup = await openProvider({ url: server.url, era: "2025" }, { memory, timers: time });
    memory.recall = () => Promise.resolve(undefined);
    memory.isAway = true;
    const { session } = await add(setup, "apple");
    expect(memory.entries.size).toBe(0);
    memory.isAway = false;
    time.advance(5000);
    await vi.waitFor(() => expect(memory.of("c1")?.id).toBe(session));
  });

  test("that cannot tell whether there is a session refuses the call rather than lose what is in it", async () => {
    await using server = await CartServer.start();
    const memory = new FakeMemory();
    await using first = await openIn(server, memory);
    const { session } = await add(first, "apple");
    await using second = await openIn(server, memory);
    memory.isAway = true;
    await expect(add(second, "pear")).rejects.toMatchObject({ code: "PROVIDER_UNREACHABLE" });
    memory.isAway = false;
    expect(await add(second, "plum")).toEqual({ session, cart: ["apple", "plum"] });
  });

  test("holds nothing of a session that the gateway has let sleep", async () => {
    await using server = await CartServer.start();
    const memory = new FakeMemory();
    await using setup = await openProvider({ url: server.url, era: "2025", idle: "40ms" }, { memory });
    const { session } = await add(setup, "apple");
    await vi.waitFor(() => expect(memory.entries.size).toBe(0));
    expect(server.deleted).toContain(session);
    expect((await add(setup, "pear")).session).not.toBe(session);
  });

  test("holds nothing of clients of 2026-07-28: their sessions do not move", async () => {
    await using server = await CartServer.start();
    const memory = new FakeMemory();
    await using setup = await openIn(server, memory);
    await add(setup, "apple", fakeSession("m1", { protocol: "2026-07-28", capabilities: { elicitation: {} } }));
    expect(memory.writes).toBe(0);
  });
});
