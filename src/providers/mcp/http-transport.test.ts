import { describe, expect, test, vi } from "vitest";
import { describeProvider } from "../../../tests/kit/describe-provider.ts";
import { FakeOut, fakeSession, silentLog, toolCall } from "../../../tests/kit/fake-host.ts";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { type Log, payload } from "../../contract/index.ts";
import { type Exchange, HttpFixture, startHttpFixture } from "./fixtures/http-server.ts";
import { createProvider, openProvider } from "./fixtures/setup.ts";
import { createSocketOpener, SocketBound, type SocketOpener } from "./http/index.ts";

describeProvider("mcpProvider over HTTP", async () => {
  const server = await startHttpFixture({
    "tools/call": (exchange) => (exchange.tool === "echo" ? exchange.result({ content: [] }) : exchange.stream()),
  });
  return {
    provider: createProvider({ url: server.url }),
    quickCall: () => toolCall("echo"),
    endlessCall: () => toolCall("never"),
    stop: () => server.stop(),
  };
});

const answerOf = (exchange: Exchange, result: unknown) => ({ jsonrpc: "2.0", id: exchange.message.id, result });
const failing = (promise: Promise<void>) => promise.then(() => undefined).catch((error: unknown) => error);

describe("HttpTransport", () => {
  test("sends the session id and the agreed revision with everything after initialize", async () => {
    await using server = await startHttpFixture({}, "s-1");
    {
      await using setup = await openProvider({ era: "2025", url: server.url, headers: { Authorization: "Bearer x" } });
      await setup.provider.run(toolCall("echo"), new FakeOut());
    }
    const [first, ...rest] = server.seen;
    expect(first?.headers["mcp-session-id"]).toBeUndefined();
    expect(first?.headers.accept).toBe("application/json, text/event-stream");
    expect(rest.map(({ headers }) => headers["mcp-session-id"])).toEqual(rest.map(() => "s-1"));
    expect(rest.map(({ headers }) => headers["mcp-protocol-version"])).toEqual(rest.map(() => "2025-11-25"));
    expect(server.seen.every(({ headers }) => headers.authorization === "Bearer x")).toBe(true);
    expect(rest.map(({ method, rpc }) => rpc.method ?? method)).toEqual([
      "notifications/initialized",
      "GET",
      "tools/list",
      "tools/call",
      "DELETE",
    ]);
  });

  test("takes an answer as a stream, with what else stands on it", async () => {
    await using server = await startHttpFixture({
      "tools/call"(exchange) {
        exchange.stream();
        const token = exchange.progressToken;
        exchange.event({
          jsonrpc: "2.0",
          method: "notifications/progress",
          params: { progressToken: token, progress: 1 },
        });
        exchange.event({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "x" } });
        exchange.event({ jsonrpc: "2.0", method: "notifications/odd", params: { y: 1 } });
        exchange.event(answerOf(exchange, { content: [] }));
        exchange.end();
      },
    });
    await using setup = await openProvider({ url: server.url });
    const out = new FakeOut();
    await setup.provider.run(toolCall("x", {}, { input: { _meta: { progressToken: 7 } } }), out);
    expect(out.events.map((event) => event.type)).toEqual(["progress", "log", "notice", "end"]);
  });

  test("asks in the call on whose stream the server asks, and posts the answer", async () => {
    await using server = await startHttpFixture({
      "tools/call"(exchange) {
        exchange.stream();
        exchange.event({ jsonrpc: "2.0", id: 0, method: "elicitation/create", params: { message: exchange.tool } });
        exchange.server.on.answer = (answer) => {
          answer.raw("", 202, {});
          exchange.event(answerOf(exchange, { got: answer.message }));
          exchange.end();
        };
      },
    });
    await using setup = await openProvider({ url: server.url });
    const out = new FakeOut();
    const call = toolCall("q", {}, { session: fakeSession("a", { capabilities: { elicitation: {} } }) });
    out.onEvent = (event) => {
      if (event.type === "ask")
        setup.provider.reply(call.id, {
          type: "answer",
          answers: [{ key: "a1", outcome: "result", payload: payload('{"action":"decline"}') }],
        });
    };
    await setup.provider.run(call, out);
    expect(out.result).toEqual({ got: { jsonrpc: "2.0", id: 0, result: { action: "decline" } } });
  });

  test("tells a call that the server took its question back", async () => {
    await using server = await startHttpFixture({
      "tools/call"(exchange) {
        exchange.stream();
        exchange.event({ jsonrpc: "2.0", id: "q", method: "elicitation/create", params: {} });
        exchange.event({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "q" } });
        exchange.event(answerOf(exchange, {}));
        exchange.end();
      },
    });
    await using setup = await openProvider({ url: server.url });
    const out = new FakeOut();
    await setup.provider.run(
      toolCall("q", {}, { session: fakeSession("a", { capabilities: { elicitation: {} } }) }),
      out,
    );
    expect(out.events).toMatchObject([
      { type: "ask" },
      { type: "notice", method: "notifications/cancelled", key: "a1" },
      { type: "end" },
    ]);
  });

  test("takes questions from the GET stream: in the only call, else outside any", async () => {
    await using server = await startHttpFixture(
      {
        GET: (exchange) => void exchange.server.listeners.push(exchange.stream()),
        "tools/call"(exchange) {
          exchange.stream();
          exchange.server.listeners[1]?.event({ jsonrpc: "2.0", id: 5, method: "roots/list" });
          exchange.server.on.answer = (answer) => {
            answer.raw("", 202, {});
            exchange.event(answerOf(exchange, { got: answer.message.result }));
            exchange.end();
          };
        },
      },
      "s",
    );
    await using setup = await openProvider({ url: server.url });
    const session = fakeSession("a", { capabilities: { roots: {} } });
    expect(await setup.provider.scope(session)).toBe("session:a");
    const out = new FakeOut();
    const call = toolCall("q", {}, { session });
    out.onEvent = (event) => {
      if (event.type === "ask")
        setup.provider.reply(call.id, {
          type: "answer",
          answers: [{ key: "a1", outcome: "result", payload: payload('{"roots":[]}') }],
        });
    };
    await setup.provider.run(call, out);
    expect(out.result).toEqual({ got: { roots: [] } });

    const answered = new Promise<unknown>((resolve) => {
      server.on.answer = (answer) => {
        answer.raw("", 202, {});
        resolve(answer.message);
      };
    });
    setup.host.answer = ({ key }) => Promise.resolve({ key, outcome: "result", payload: payload('{"roots":[1]}') });
    server.listeners[1]?.event({ jsonrpc: "2.0", id: 6, method: "roots/list" });
    expect(await answered).toEqual({ jsonrpc: "2.0", id: 6, result: { roots: [1] } });
  });

  test("opens the GET stream again after it ended, from where it was", async () => {
    await using server = await startHttpFixture({
      GET(exchange) {
        exchange.stream();
        if (exchange.server.listeners.push(exchange) > 1) return;
        exchange.event("", "e-9", "retry: 10\n");
        exchange.end();
      },
    });
    await using setup = await openProvider({ url: server.url });
    await vi.waitFor(() => expect(server.listeners).toHaveLength(2), 2000);
    expect(server.listeners[1]?.request.headers["last-event-id"]).toBe("e-9");
    server.listeners[1]?.event({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
    await vi.waitFor(() => expect(server.count("tools/list")).toBe(2));
    expect(setup.host.status).toBe("ok");
  });

  test("opens the GET stream later where there was no socket left for it", async () => {
    await using server = await startHttpFixture({
      GET: (exchange) => void exchange.server.listeners.push(exchange.stream()),
    });
    const open = createSocketOpener(new URL(server.url));
    const full = new SocketBound(0).within(open);
    let opened = 0;
    // The first is for the requests, the second would be for the stream.
    const connect: SocketOpener = (reader) => (++opened === 2 ? full(reader) : open(reader));
    await using setup = await openProvider({ url: server.url }, { connect });
    expect(setup.host.status).toBe("ok");
    await vi.waitFor(() => expect(server.listeners).toHaveLength(1), 3_000);
  });

  const LONG_ID = "i".repeat(1025);

  test("opens the GET stream anew where the last id was too long to keep, and says so once", async () => {
    const warned: string[] = [];
    const log: Log = { ...silentLog, warn: (text) => void warned.push(text), child: () => log };
    const handles: unknown[] = [];
    await using server = await startHttpFixture({
      GET(exchange) {
        exchange.stream();
        handles.push(exchange.request.headers["last-event-id"]);
        if (exchange.server.listeners.push(exchange) > 2) return;
        exchange.event("", "e-9", "retry: 10\n");
        exchange.event("", LONG_ID);
        exchange.end();
      },
    });
    await using _setup = await openProvider({ url: server.url }, { log });
    await vi.waitFor(() => expect(handles).toEqual([undefined, undefined, undefined]), 10_000);
    expect(warned).toEqual(["upstream event id too long to go on from"]);
  });

  test("does not take a stream up again whose last id was too long to keep", async () => {
    await using server = await startHttpFixture({
      "tools/call"(exchange) {
        exchange.stream().event("", "p-1", "retry: 5\n");
        exchange.event("", LONG_ID);
        exchange.end();
      },
    });
    await using setup = await openProvider({ url: server.url });
    expect(await failing(setup.provider.run(toolCall("x"), new FakeOut()))).toMatchObject({ code: "OUTCOME_UNKNOWN" });
    expect(server.seen.map(({ headers }) => headers["last-event-id"])).toEqual(server.seen.map(() => undefined));
  });

  test("opens no session under an id of more than 4 KiB", async () => {
    await using server = await startHttpFixture({}, "s".repeat(4097));
    await using setup = await openProvider({ era: "2025", url: server.url, restart: "never" });
    const message = "The server's session id has more than 4096 bytes.";
    expect(setup.host.states.at(-1)).toMatchObject({ status: "invalid", message });
  });

  test("takes a stream up again that the server cut before its answer", async () => {
    const cut: { id: unknown } = { id: undefined };
    await using server = await startHttpFixture({
      "tools/call"(exchange) {
        cut.id = exchange.message.id;
        exchange.stream().event("", "p-1", "retry: 5\n");
        exchange.end();
      },
      GET(exchange) {
        const last = exchange.request.headers["last-event-id"];
        if (last === undefined) return exchange.raw("", 405, {});
        exchange.stream();
        if (last === "p-1") exchange.event("", "p-2");
        else exchange.event({ jsonrpc: "2.0", id: cut.id, result: { resumedFrom: last } }, "p-3");
        exchange.end();
      },
    });
    await using setup = await openProvider({ url: server.url });
    const out = new FakeOut();
    await setup.provider.run(toolCall("x"), out);
    expect(out.result).toEqual({ resumedFrom: "p-2" });
  });

  test("relays a JSON-RPC error that comes with an error status", async () => {
    await using server = await startHttpFixture({
      "tools/call": (exchange) =>
        exchange.json({ jsonrpc: "2.0", id: exchange.message.id, error: { code: -32602, message: "bad" } }, 400),
    });
    await using setup = await openProvider({ url: server.url });
    const out = new FakeOut();
    await setup.provider.run(toolCall("x"), out);
    expect(out.ends).toMatchObject([{ type: "end", outcome: "fault" }]);
    expect(out.result).toEqual({ code: -32602, message: "bad" });
  });

  test("opens a session anew that the server has forgotten, and sends the call again", async () => {
    await using server = await startHttpFixture({}, "old");
    await using setup = await openProvider({ url: server.url, sessions: "shared" });
    server.sessionId = "new";
    server.on["tools/call"] = (exchange) =>
      exchange.request.headers["mcp-session-id"] === "new"
        ? exchange.result({ fine: true })
        : exchange.raw("", 404, {});
    const outs = [new FakeOut(), new FakeOut(), new FakeOut()];
    await Promise.all(outs.map((out) => setup.provider.run(toolCall("x"), out)));
    expect(outs.map((out) => out.result)).toEqual([{ fine: true }, { fine: true }, { fine: true }]);
    expect(server.count("initialize")).toBe(2);
  });

  test("opens a session anew when a restarted server turns it away with 400, which is what many do", async () => {
    await using server = await startHttpFixture({}, "old");
    await using setup = await openProvider({ url: server.url, sessions: "shared" });
    server.sessionId = "new";
    const turnAway = (exchange: Exchange) =>
      exchange.json({ jsonrpc: "2.0", id: null, error: { code: -32000, message: "No valid session ID" } }, 400);
    for (const method of ["tools/call", "ping"])
      server.on[method] = (exchange) =>
        exchange.request.headers["mcp-session-id"] === "new" ? exchange.result({ fine: true }) : turnAway(exchange);
    const out = new FakeOut();
    await setup.provider.run(toolCall("x"), out);
    expect(out.result).toEqual({ fine: true });
    server.on["tools/call"] = turnAway; // this time the session is known: the call itself is turned away
    expect(await failing(setup.provider.run(toolCall("x"), new FakeOut()))).toMatchObject({ code: "PROVIDER_FAILED" });
    expect(server.count("initialize")).toBe(2);
  });

  test("leaves calls in flight alone when another finds the session gone", async () => {
    const held: Exchange[] = [];
    await using server = await startHttpFixture(
      { "tools/call": (exchange) => void held.push(exchange.stream()) },
      "old",
    );
    await using setup = await openProvider({ url: server.url, sessions: "shared" });
    const first = new FakeOut();
    const running = setup.provider.run(toolCall("slow"), first);
    await vi.waitFor(() => expect(held).toHaveLength(1));
    server.sessionId = "new";
    server.on["tools/call"] = (exchange) =>
      exchange.request.headers["mcp-session-id"] === "new" ? exchange.result({}) : exchange.raw("", 404, {});
    await setup.provider.run(toolCall("x"), new FakeOut());
    const [slow] = held;
    slow?.event(answerOf(slow, { late: true }));
    slow?.end();
    await running;
    expect(first.result).toEqual({ late: true });
  });

  test("reports auth_required when the server refuses our credentials", async () => {
    await using server = await startHttpFixture({ initialize: (exchange) => exchange.raw("", 401, {}) });
    await using setup = await openProvider({ url: server.url });
    expect(setup.host.states.at(-1)).toMatchObject({ status: "auth_required" });
  });

  test("keeps the session of everybody when the server forbids one call", async () => {
    await using server = await startHttpFixture({
      "tools/call": (exchange) =>
        exchange.tool === "forbidden" ? exchange.raw("", 403, {}) : exchange.result({ content: [] }),
    });
    await using setup = await openProvider({ url: server.url, era: "2025" });
    const forbidden = setup.provider.run(toolCall("forbidden"), new FakeOut());
    await expect(forbidden).rejects.toMatchObject({ code: "NOT_ALLOWED" });
    await setup.provider.run(toolCall("echo"), new FakeOut());
    expect([setup.host.status, server.count("initialize")]).toEqual(["ok", 1]);
  });

  test("comes back when a server that was down is up again", async () => {
    const server = await startHttpFixture();
    await using setup = await openProvider({ url: server.url });
    await server.stop();
    await new Promise((resolve) => setTimeout(resolve, 20)); // our idle sockets hear of it
    expect(await failing(setup.provider.run(toolCall("x"), new FakeOut()))).toMatchObject({
      code: "PROVIDER_UNREACHABLE",
    });
    expect(setup.host.status).toBe("unreachable");
    await using same = await new HttpFixture({}).listen(server.port);
    const out = new FakeOut();
    await setup.provider.run(toolCall("x"), out);
    expect(out.ends).toHaveLength(1);
    expect(same.count("initialize")).toBe(1);
    await vi.waitFor(() => expect(setup.host.status).toBe("ok"));
  });

  test("uses another socket when the server has closed an idle one", async () => {
    await using server = await startHttpFixture();
    await using setup = await openProvider({ url: server.url });
    await setup.provider.run(toolCall("x"), new FakeOut());
    for (const socket of server.sockets) socket.end();
    await new Promise((resolve) => setTimeout(resolve, 20));
    const out = new FakeOut();
    await setup.provider.run(toolCall("x"), out);
    expect(out.ends).toHaveLength(1);
  });

  test("gives every client a session of its own when the server issues sessions", async () => {
    await using server = await startHttpFixture({}, "s");
    await using setup = await openProvider({ url: server.url });
    const session = fakeSession("a");
    expect(await setup.provider.scope(session)).toBe("session:a");
    expect(await setup.provider.scope(fakeSession("b", { isEphemeral: true }))).toBe("shared");
    setup.provider.release(session);
    await vi.waitFor(() => expect(server.seen.filter(({ method }) => method === "DELETE")).toHaveLength(1));
  });

  test("posts a cancel before it closes the stream of the call", async () => {
    const log: string[] = [];
    await using server = await startHttpFixture({
      "tools/call"(exchange) {
        exchange.stream();
        exchange.response.on("close", () => log.push("closed"));
      },
      "notifications/cancelled"(exchange) {
        log.push(`cancelled ${JSON.stringify(exchange.message.params)}`);
        exchange.raw("", 202, {});
      },
    });
    const time = new ManualTime();
    await using setup = await openProvider({ era: "2025", url: server.url }, { timers: time, clock: time });
    const call = { ...toolCall("x"), deadline: time.now() + 60_000 };
    const running = failing(setup.provider.run(call, new FakeOut()));
    await vi.waitFor(() => expect(server.count("tools/call")).toBe(1));
    setup.provider.reply(call.id, { type: "cancel", reason: "user" });
    await vi.waitFor(() => expect(log).toEqual(['cancelled {"requestId":3,"reason":"user"}']));
    time.advance(5_000);
    expect(await running).toMatchObject({ code: "CANCELLED" });
    await vi.waitFor(() => expect(log).toEqual(['cancelled {"requestId":3,"reason":"user"}', "closed"]));
  });

  test("reads a stream no faster than its reader takes it", async () => {
    let written = 0;
    await using server = await startHttpFixture({
      "tools/call"(exchange) {
        exchange.stream();
        const filler = "x".repeat(60_000);
        const pump = () => {
          while (written < 400) {
            written++;
            if (
              !exchange.response.write(
                `data: ${JSON.stringify({ jsonrpc: "2.0", method: "notifications/odd", params: { filler } })}\n\n`,
              )
            )
              return void exchange.response.once("drain", pump);
          }
          exchange.event(answerOf(exchange, {}));
          exchange.end();
        };
        pump();
      },
    });
    await using setup = await openProvider({ url: server.url });
    const out = new FakeOut();
    out.isFull = true;
    const running = setup.provider.run(toolCall("x"), out);
    await vi.waitFor(() => expect(out.events.length).toBeGreaterThan(0));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(out.events.length).toBeLessThan(50);
    expect(written).toBeLessThan(400);
    out.drain();
    await running;
    expect(out.events).toHaveLength(401);
  });
});
