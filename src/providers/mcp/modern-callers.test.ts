/** Callers of 2026-07-28 at servers of the 2025 era over HTTP. */
import { describe, expect, test, vi } from "vitest";
import { fakeSession } from "../../../tests/kit/fake-host.ts";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { payload } from "../../contract/index.ts";
import { Caller, caller } from "./fixtures/caller.ts";
import { type Exchange, type Handler, type HttpFixture, type Rpc, startHttpFixture } from "./fixtures/http-server.ts";
import { complete, startModern } from "./fixtures/modern-http.ts";
import { openProvider } from "./fixtures/setup.ts";

const ELICIT = "elicitation/create";
const sessionOf = ({ request }: Exchange) => String(request.headers["mcp-session-id"]);

/** Gives every client a session of its own: the shared one is "s1". */
function issueSessions(capabilities: object = { tools: { listChanged: true } }): Record<string, Handler> {
  let next = 1;
  return {
    initialize: (exchange) =>
      exchange.result(
        { protocolVersion: "2025-11-25", capabilities, serverInfo: { name: "fixture", version: "1" } },
        { "mcp-session-id": `s${next++}` },
      ),
  };
}

/** Asks on the GET stream of the session, and ends the call with the answer: nothing but the session ties the two. */
async function startAskingOnGet(): Promise<HttpFixture> {
  const streams = new Map<string, Exchange>();
  const open = new Map<string, Exchange>();
  let next = 0;
  return await startHttpFixture({
    ...issueSessions(),
    GET: (exchange) => void streams.set(sessionOf(exchange), exchange.stream()),
    "tools/call"(exchange) {
      if (exchange.tool !== "ask") return exchange.result({ content: [], structuredContent: {} });
      const id = next++;
      open.set(`${sessionOf(exchange)} ${id}`, exchange.stream());
      streams.get(sessionOf(exchange))?.event({ jsonrpc: "2.0", id, method: ELICIT, params: { message: "?" } });
    },
    answer(exchange) {
      exchange.raw("", 202, {});
      const call = open.get(`${sessionOf(exchange)} ${exchange.message.id}`);
      const text = JSON.stringify(exchange.message.result);
      call?.event({ jsonrpc: "2.0", id: call.message.id, result: { content: [{ type: "text", text }] } });
      call?.end();
    },
  });
}

const seen = (server: HttpFixture, method: string): Rpc[] =>
  server.seen.filter(({ rpc }) => rpc.method === method).map(({ rpc }) => rpc);

describe("a server that asks on the GET stream", () => {
  test("is asked for two calls in two sessions, and each answer reaches its own", async () => {
    await using server = await startAskingOnGet();
    await using setup = await openProvider({ url: server.url });
    await (await new Caller(setup, "ask").asked()).answer("before");
    const both = [new Caller(setup, "ask"), new Caller(setup, "ask")] as const;
    for (const one of both) await one.asked();
    expect(await both[1].answer("second")).toMatchObject({ content: { note: "second" } });
    expect(await both[0].answer("first")).toMatchObject({ content: { note: "first" } });
    const sessions = server.seen
      .filter(({ rpc }) => rpc.params?.name === "ask")
      .map((one) => one.headers["mcp-session-id"]);
    expect(sessions).toEqual(["s2", "s2", "s3"]);
  });

  test("opens a spare session with the same capabilities, and is not listed there", async () => {
    await using server = await startAskingOnGet();
    await using setup = await openProvider({ url: server.url });
    await setup.provider.scope(caller);
    const offers = setup.host.offerCount;
    const both = [await new Caller(setup, "ask").asked(), await new Caller(setup, "ask").asked()] as const;
    expect(seen(server, "initialize").map(({ params }) => params?.capabilities)).toEqual([
      {},
      { elicitation: {}, roots: {} },
      { elicitation: {}, roots: {} },
    ]);
    expect(setup.host.offerCount).toBe(offers);
    setup.provider.notify(caller, "notifications/roots/list_changed", payload(""));
    await vi.waitFor(() => expect(seen(server, "notifications/roots/list_changed")).toHaveLength(2));
    for (const one of both) await one.answer("yes");
  });

  test("closes a spare that nobody has used for long, and no session in which a call waits for its answer", async () => {
    const time = new ManualTime();
    await using server = await startAskingOnGet();
    await using setup = await openProvider({ url: server.url, idle: "2m" }, { timers: time, clock: time });
    const deadline = time.now() + 60_000;
    const [first, second] = [new Caller(setup, "ask", { deadline }), new Caller(setup, "other", { deadline })];
    await first.asked();
    await second.ended;
    await new Caller(setup, "other", { deadline }).ended; // in a spare
    expect(setup.provider.upstreamCount?.()).toBe(3);
    const deleted = () =>
      server.seen.filter(({ method }) => method === "DELETE").map((one) => one.headers["mcp-session-id"]);
    time.advance(6 * 60_000);
    await vi.waitFor(() => expect(deleted()).toContain("s3"));
    expect(deleted()).not.toContain("s2");
    expect(await first.answer("late")).toMatchObject({ content: { note: "late" } });
    time.advance(3 * 60_000);
    await vi.waitFor(() => expect(deleted()).toContain("s2"));
  });

  test("has all its sessions closed when the client is gone", async () => {
    await using server = await startAskingOnGet();
    await using setup = await openProvider({ url: server.url });
    const asking = await new Caller(setup, "ask").asked();
    await new Caller(setup, "other").ended;
    setup.provider.release(caller);
    await vi.waitFor(() => expect(setup.provider.upstreamCount?.()).toBe(2));
    asking.cancel();
  });
});

describe("a call that waits for its client", () => {
  test("goes on after the server cut its stream: the answer is posted, the result comes on the stream taken up again", async () => {
    const answers: unknown[] = [];
    const answered = Promise.withResolvers<void>();
    await using server = await startHttpFixture({
      ...issueSessions(),
      "tools/call"(exchange) {
        exchange
          .stream()
          .event({ jsonrpc: "2.0", id: 0, method: ELICIT, params: { message: "?" } }, "e1", "retry: 1\n");
        exchange.end();
      },
      GET(exchange) {
        if (exchange.request.headers["last-event-id"] !== "e1") return exchange.raw("", 405, {});
        const { id } = seen(server, "tools/call")[0] ?? {};
        const text = JSON.stringify({ content: { note: "resumed" } });
        exchange.stream();
        void answered.promise.then(() =>
          exchange.event({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text }] } }, "e2"),
        );
      },
      answer(exchange) {
        answers.push(exchange.message);
        exchange.raw("", 202, {});
        answered.resolve();
      },
    });
    await using setup = await openProvider({ url: server.url });
    const asking = await new Caller(setup, "ask").asked();
    expect(await asking.answer("yes")).toMatchObject({ content: { note: "resumed" } });
    expect(answers).toMatchObject([{ id: 0, result: { action: "accept" } }]);
  });

  test("is not sent again when the server forgets the session in the meantime", async () => {
    await using server = await startHttpFixture({
      ...issueSessions(),
      "tools/call"(exchange) {
        exchange
          .stream()
          .event({ jsonrpc: "2.0", id: 0, method: ELICIT, params: { message: "?" } }, "e1", "retry: 1\n");
        exchange.end();
      },
      GET: (exchange) => exchange.raw("", exchange.request.headers["last-event-id"] === "e1" ? 404 : 405, {}),
    });
    await using setup = await openProvider({ url: server.url });
    const asking = await new Caller(setup, "ask").asked();
    expect(await asking.ended).toMatchObject({ code: "OUTCOME_UNKNOWN" });
    expect(server.count("tools/call")).toBe(1);
  });

  test("may wait for longer than five minutes", async () => {
    const time = new ManualTime();
    const calls: Exchange[] = [];
    await using server = await startHttpFixture({
      ...issueSessions(),
      "tools/call"(exchange) {
        calls.push(exchange.stream());
        exchange.event({ jsonrpc: "2.0", id: 0, method: ELICIT, params: { message: "?" } });
      },
      answer(exchange) {
        exchange.raw("", 202, {});
        const text = JSON.stringify(exchange.message.result);
        calls[0]?.event({ jsonrpc: "2.0", id: calls[0].message.id, result: { content: [{ type: "text", text }] } });
      },
    });
    await using setup = await openProvider({ url: server.url }, { timers: time, clock: time });
    const asking = await new Caller(setup, "ask", { deadline: time.now() + 60_000 }).asked();
    for (let minute = 0; minute < 9; minute++) time.advance(60_000);
    expect(await asking.answer("late")).toMatchObject({ content: { note: "late" } });
    expect(server.seen.filter(({ method }) => method === "DELETE")).toEqual([]);
  });
});

describe("a server of 2026-07-28 that is slow", () => {
  test.each([
    ["auto", ["ask", "end"]],
    ["off", ["end"]],
  ])("with task = %j asks within the call of a client that may be sent away, or not", async (task, types) => {
    const inputRequests = { q: { method: ELICIT, params: { message: "?" } } };
    await using server = await startModern({
      "tools/call": (exchange) =>
        exchange.result(
          exchange.message.params?.inputResponses
            ? complete({ content: [] })
            : { resultType: "input_required", inputRequests },
        ),
    });
    await using setup = await openProvider({ url: server.url, task });
    const calling = new Caller(setup, "ask", { mayDefer: true });
    if (task === "auto") (await calling.asked()).reply("yes");
    await calling.ended;
    expect(calling.out.events.map(({ type }) => type)).toEqual(types);
    expect(calling.out.ends).toMatchObject([{ outcome: task === "auto" ? "result" : "input" }]);
  });
});

describe("what a server lists for what its client declares", () => {
  test("is offered to that profile alone, and called in its session", async () => {
    const declared = new Map<string, object>();
    let next = 1;
    await using server = await startHttpFixture({
      initialize(exchange) {
        const id = `s${next++}`;
        declared.set(id, exchange.message.params?.capabilities as object);
        const serverInfo = { name: "fixture", version: "1" };
        exchange.result(
          { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo },
          { "mcp-session-id": id },
        );
      },
      "tools/list"(exchange) {
        const names = Object.keys(declared.get(sessionOf(exchange)) ?? {});
        exchange.result({ tools: ["echo", ...names].map((name) => ({ name, inputSchema: { type: "object" } })) });
      },
      "tools/call": (exchange) =>
        exchange.result({ content: [{ type: "text", text: JSON.stringify(sessionOf(exchange)) }] }),
    });
    await using setup = await openProvider({ url: server.url });
    const profiles = [{ elicitation: {} }, { sampling: {} }].map((capabilities, at) =>
      fakeSession(`p${at}`, { capabilities }),
    );
    for (const session of profiles) await setup.provider.scope(session);
    expect([...declared.values()]).toEqual([{}, { elicitation: {} }, { sampling: {} }]);
    expect(setup.host.names("tool")).toEqual(["echo"]);
    expect(setup.host.names("tool", "session:p0")).toEqual(["echo", "elicitation"]);
    expect(setup.host.names("tool", "session:p1")).toEqual(["echo", "sampling"]);
    const calls = [...profiles, ...profiles].map((session) => new Caller(setup, "echo", { session }));
    for (const one of calls) await one.ended;
    expect(calls.map(({ result }) => result)).toEqual(["s2", "s3", "s2", "s3"]);
  });
});

describe("a server that has no way to hear answers", () => {
  test("without sessions and GET stream is told of no capability, and one session serves all", async () => {
    await using server = await startHttpFixture();
    await using setup = await openProvider({ url: server.url });
    expect(await setup.provider.scope(caller)).toBe("shared");
    await new Caller(setup, "echo").ended;
    expect(seen(server, "initialize").map(({ params }) => params?.capabilities)).toEqual([{}]);
  });

  test("hears nothing of answers that it never asked for", async () => {
    await using server = await startHttpFixture();
    await using setup = await openProvider({ url: server.url });
    const input = { arguments: { a: 1 }, inputResponses: { q: {} }, requestState: "s" };
    await new Caller(setup, "echo", { input }).ended;
    expect(seen(server, "tools/call").map(({ params }) => params)).toEqual([{ name: "echo", arguments: { a: 1 } }]);
  });

  test("that asks all the same is refused, and its own end of the call is the caller's", async () => {
    await using server = await startHttpFixture({
      "tools/call": (exchange) =>
        exchange.stream().event({ jsonrpc: "2.0", id: 0, method: ELICIT, params: { message: "?" } }),
      answer(exchange) {
        exchange.raw("", 202, {});
        const call = calls[0];
        call?.event({ jsonrpc: "2.0", id: call.message.id, result: { content: [], isError: true } });
      },
    });
    const calls: Exchange[] = [];
    const ask = server.on["tools/call"];
    server.on["tools/call"] = (exchange) => {
      calls.push(exchange);
      ask?.(exchange);
    };
    await using setup = await openProvider({ url: server.url });
    const asking = new Caller(setup, "ask");
    await asking.ended;
    expect(asking.asks).toEqual([]);
    expect(asking.out.result).toEqual({ content: [], isError: true });
  });

  test("that answers in JSON only loses its question, and the call can be cancelled", async () => {
    await using server = await startHttpFixture({ ...issueSessions(), "tools/call": () => undefined });
    await using setup = await openProvider({ url: server.url });
    const asking = new Caller(setup, "ask");
    await vi.waitFor(() => expect(server.count("tools/call")).toBe(1));
    asking.cancel();
    await vi.waitFor(() => expect(server.count("notifications/cancelled")).toBe(1));
    await setup.provider.close();
    expect(await asking.ended).toMatchObject({ code: "CANCELLED" });
  });
});
