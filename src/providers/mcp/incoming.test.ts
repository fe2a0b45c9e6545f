import { describe, expect, test, vi } from "vitest";
import { FakeOut, fakeSession, silentLog, toolCall } from "../../../tests/kit/fake-host.ts";
import { KeptLog } from "../../../tests/kit/quiet.ts";
import type { Log } from "../../contract/index.ts";
import { skimMessage } from "../../wire/jsonrpc/index.ts";
import { type Exchange, startHttpFixture } from "./fixtures/http-server.ts";
import { openProvider } from "./fixtures/setup.ts";

const RELATED = "io.modelcontextprotocol/related-task";
const dropped = "isthmus_notices_dropped_total";

/** A server with a GET stream, and a provider over it. `say` speaks on the newest stream. */
async function openListening(
  session = fakeSession("a", { capabilities: { roots: {}, elicitation: {} } }),
  log: Log = silentLog,
) {
  const calls: Exchange[] = [];
  const answers: unknown[] = [];
  const server = await startHttpFixture({
    GET: (exchange) => void exchange.server.listeners.push(exchange.stream()),
    "tools/call": (exchange) => void calls.push(exchange.stream()),
    answer(exchange) {
      answers.push(exchange.message);
      exchange.raw("", 202, {});
    },
  });
  const setup = await openProvider({ url: server.url }, { log });
  return {
    ...setup,
    session,
    calls,
    answers,
    say: (message: object) => server.listeners.at(-1)?.event({ jsonrpc: "2.0", ...message }),
    raw: (text: string) => server.listeners.at(-1)?.event(text),
    end: (call: Exchange | undefined, result: object = {}) => {
      call?.event({ jsonrpc: "2.0", id: call.message.id, result });
      call?.end();
    },
    async [Symbol.asyncDispose]() {
      await setup.provider.close();
      await server.stop();
    },
  };
}

describe("what a server says by itself", () => {
  test("a ping is answered, on a shared session, too", async () => {
    await using it = await openListening();
    it.say({ id: "p", method: "ping" });
    await vi.waitFor(() => expect(it.answers).toEqual([{ jsonrpc: "2.0", id: "p", result: {} }]));
  });

  test("with several calls in flight a question goes to the client itself, and can be taken back", async () => {
    await using it = await openListening();
    await it.provider.scope(it.session);
    it.host.answer = () => new Promise(() => undefined);
    const running = [1, 2].map(() => it.provider.run(toolCall("x", {}, { session: it.session }), new FakeOut()));
    await vi.waitFor(() => expect(it.calls).toHaveLength(2));
    it.say({ id: 0, method: "roots/list" });
    await vi.waitFor(() => expect(it.host.asks).toHaveLength(1));
    it.say({ method: "notifications/cancelled", params: { requestId: 0 } });
    await vi.waitFor(() => expect(it.host.asks[0]?.signal.aborted).toBe(true));
    for (const call of it.calls) it.end(call);
    await Promise.all(running);
    expect(it.answers).toEqual([]);
  });

  test("of the questions that come at once 64 wait for the client, in calls and outside, and the others are refused", async () => {
    await using it = await openListening();
    await it.provider.scope(it.session);
    it.host.answer = () => new Promise(() => undefined);
    const ask = (id: number) => ({ id, method: "elicitation/create", params: { message: "?" } });
    const ids = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);
    for (const id of ids(1, 60)) it.say(ask(id));
    await vi.waitFor(() => expect(it.host.asks).toHaveLength(60));
    const out = new FakeOut();
    const running = it.provider.run(toolCall("x", {}, { session: it.session }), out);
    await vi.waitFor(() => expect(it.calls).toHaveLength(1));
    for (const id of ids(61, 200)) it.calls[0]?.event({ jsonrpc: "2.0", ...ask(id) });
    await vi.waitFor(() => expect(it.answers).toHaveLength(136));
    expect(new Set(it.answers.map((answer) => (answer as { id: number }).id))).toEqual(new Set(ids(65, 200)));
    expect(it.answers[0]).toMatchObject({ error: { code: -32603 } });
    expect(out.events.map(({ type }) => type)).toEqual(["ask", "ask", "ask", "ask"]);
    it.end(it.calls[0]);
    await running;
    it.say(ask(201));
    await vi.waitFor(() => expect(it.host.asks).toHaveLength(61));
  });

  test("questions wait up to a bound of bytes, for one and for all of a session; others are refused", async () => {
    await using it = await openListening();
    await it.provider.scope(it.session);
    it.host.answer = () => new Promise(() => undefined);
    const ask = (id: number, mib: number) =>
      it.say({ id, method: "elicitation/create", params: { message: "?".repeat(mib * 1024 * 1024) } });
    ask(1, 9);
    await vi.waitFor(() => expect(it.answers).toMatchObject([{ id: 1, error: { code: -32603 } }]));
    for (const id of [2, 3, 4]) ask(id, 6);
    await vi.waitFor(() => expect(it.answers).toMatchObject([{ id: 1 }, { id: 4, error: { code: -32603 } }]));
    expect(it.host.asks).toHaveLength(2);
    it.say({ method: "notifications/cancelled", params: { requestId: 2 } });
    ask(5, 6);
    await vi.waitFor(() => expect(it.host.asks).toHaveLength(3));
  });

  test.each(["hasOwnProperty", "__proto__", "valueOf", "constructor"])(
    "a notification called %s is one like any other",
    async (method) => {
      await using it = await openListening();
      await it.provider.scope(it.session);
      it.raw(`{"jsonrpc":"2.0","method":"${method}","params":{}}`);
      await vi.waitFor(() => expect(it.host.notices).toMatchObject([{ method, to: { session: "a" } }]));
    },
  );

  test("a question that cannot be put is answered with an error", async () => {
    await using it = await openListening();
    await it.provider.scope(it.session);
    it.say({ id: 7, method: "elicitation/create", params: {} });
    await vi.waitFor(() => expect(it.answers).toMatchObject([{ id: 7, error: { code: -32603 } }]));
  });

  test("what nobody can be tied to reaches a client's own session, and nobody on a shared one", async () => {
    await using it = await openListening();
    it.say({ method: "notifications/elicitation/complete", params: { elicitationId: "e" } });
    await vi.waitFor(() => expect(it.meter.counts.get(`${dropped} unattributable`)).toBe(1));
    await it.provider.scope(it.session);
    it.say({ method: "notifications/elicitation/complete", params: { elicitationId: "e" } });
    await vi.waitFor(() => expect(it.host.notices).toMatchObject([{ from: "test", to: { session: "a" } }]));
    expect(it.host.notices[0]?.payload.frame?.text).toContain("elicitation/complete");
  });

  test("a log line on a shared session reaches its one principal", async () => {
    await using it = await openListening();
    const running = it.provider.run(toolCall("x", {}, { principal: { id: "p" } }), new FakeOut());
    await vi.waitFor(() => expect(it.calls).toHaveLength(1));
    it.end(it.calls[0]);
    await running;
    it.say({ method: "notifications/message", params: { level: "info", data: 1 } });
    await vi.waitFor(() =>
      expect(it.host.notices).toMatchObject([{ to: { principal: "p" }, method: "notifications/message" }]),
    );
  });

  test("a log line on a shared session reaches nobody where its one principal calls for others", async () => {
    await using it = await openListening();
    const origin = { front: "mcp", protocol: "test", requestId: "1", requester: "ann" };
    const running = it.provider.run(toolCall("x", {}, { principal: { id: "gateway" }, origin }), new FakeOut());
    await vi.waitFor(() => expect(it.calls).toHaveLength(1));
    it.end(it.calls[0]);
    await running;
    it.say({ method: "notifications/message", params: { level: "info", data: 1 } });
    await vi.waitFor(() => expect(it.meter.counts.get(`${dropped} unattributable`)).toBe(1));
    expect(it.host.notices).toEqual([]);
  });

  test("in a session of a client that calls for others, words behind the call of one are not told in another's", async () => {
    await using it = await openListening();
    const out = new FakeOut();
    const callFor = (requester: string, to = new FakeOut()) => {
      const origin = { front: "mcp", protocol: "test", requestId: "1", requester };
      return it.provider.run(toolCall("x", {}, { session: it.session, origin }), to);
    };
    const first = callFor("ann");
    await vi.waitFor(() => expect(it.calls).toHaveLength(1));
    it.end(it.calls[0]);
    await first;
    const second = callFor("bob", out);
    await vi.waitFor(() => expect(it.calls).toHaveLength(2));
    it.say({ method: "notifications/message", params: { level: "info", data: 1 } });
    await vi.waitFor(() => expect(it.host.notices).toMatchObject([{ to: { session: "a" } }]));
    it.end(it.calls[1]);
    await second;
    expect(out.events.map(({ type }) => type)).toEqual(["end"]);
  });

  test("an updated resource is announced by its URI, also from the stream of a call", async () => {
    await using it = await openListening();
    const out = new FakeOut();
    const running = it.provider.run(toolCall("x"), out);
    await vi.waitFor(() => expect(it.calls).toHaveLength(1));
    it.calls[0]?.event({ jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri: "file:///ü" } });
    it.end(it.calls[0]);
    await running;
    expect(it.host.notices).toMatchObject([{ to: { resource: "file:///ü" } }]);
    expect(out.events).toHaveLength(1);
  });

  test("progress under a token that nobody gave is dropped", async () => {
    await using it = await openListening();
    const out = new FakeOut();
    const running = it.provider.run(toolCall("x"), out);
    await vi.waitFor(() => expect(it.calls).toHaveLength(1));
    for (const progressToken of [it.calls[0]?.message.id, 999])
      it.calls[0]?.event({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress: 1 } });
    it.end(it.calls[0]);
    await running;
    expect(out.events).toHaveLength(1);
    expect(it.meter.counts.get(`${dropped} late`)).toBe(2);
  });

  test("progress of a task goes on under the client's own token", async () => {
    await using it = await openListening();
    const call = toolCall("x", {}, { input: { task: {}, _meta: { progressToken: "theirs" } }, principal: { id: "p" } });
    const out = new FakeOut();
    const running = it.provider.run(call, out);
    await vi.waitFor(() => expect(it.calls).toHaveLength(1));
    it.end(it.calls[0], { task: { taskId: "up", status: "working", ttl: null } });
    await running;
    expect(out.ends).toMatchObject([{ outcome: "task", ttlMs: 3_600_000 }]);
    it.say({ method: "notifications/progress", params: { progressToken: it.calls[0]?.progressToken, progress: 2 } });
    await vi.waitFor(() => expect(it.host.notices).toMatchObject([{ to: { principal: "p" } }]));
    expect(it.host.notices[0]?.payload.value()).toEqual({ progressToken: "theirs", progress: 2 });
  });

  test("a server that makes a task of a call does not speak under our key with it", async () => {
    await using it = await openListening();
    const out = new FakeOut();
    const running = it.provider.run(toolCall("x", {}, { input: { task: {} }, principal: { id: "p" } }), out);
    await vi.waitFor(() => expect(it.calls).toHaveLength(1));
    const _meta = { "dev.isthmus/error": { code: "APPROVAL_NEEDED" } };
    it.end(it.calls[0], { task: { taskId: "up", status: "working", ttl: null }, _meta });
    await running;
    expect(out.ends).toMatchObject([{ outcome: "task" }]);
    expect(out.result).toMatchObject({ _meta: { "dev.isthmus/relayedError": { code: "APPROVAL_NEEDED" } } });
    expect(out.result).not.toHaveProperty(["_meta", "dev.isthmus/error"]);
  });

  test("a message that two readers could read differently is refused, and the session lives on", async () => {
    await using it = await openListening();
    await it.provider.scope(it.session);
    it.raw(
      `{"jsonrpc":"2.0","id":9,"method":"elicitation/create","params":{"_meta":{"${RELATED}":{"taskId":"a","taskId":"b"}}}}`,
    );
    await vi.waitFor(() => expect(it.answers).toMatchObject([{ id: 9, error: { code: -32600 } }]));
    it.raw("not JSON");
    it.raw('{"jsonrpc":"2.0","id":9999,"result":{}}');
    it.say({ id: 10, method: "ping" });
    await vi.waitFor(() => expect(it.answers).toHaveLength(2));
    expect(it.meter.counts.get("isthmus_events_late_total test")).toBe(1);
  });

  test("text that is no message is a line in the log, and then a count", async () => {
    const log = new KeptLog();
    await using it = await openListening(undefined, log);
    for (let times = 0; times < 100; times++) it.raw("not JSON");
    it.say({ id: "p", method: "ping" });
    await vi.waitFor(() => expect(it.answers).toHaveLength(1));
    const told = () => log.lines.filter(({ message }) => message === "upstream text is no message");
    expect(told()).toHaveLength(1);
    await it.provider.close();
    expect(told()).toMatchObject([{ level: "debug" }, { level: "debug", fields: { untold: 99 } }]);
  });

  test("a question keeps the key that the server wishes for, as long as it is free", async () => {
    await using it = await openListening();
    const out = new FakeOut();
    const running = it.provider.run(toolCall("x", {}, { session: it.session }), out);
    await vi.waitFor(() => expect(it.calls).toHaveLength(1));
    const params = { message: "who?", _meta: { "dev.isthmus/key": "user_name" } };
    for (const id of [1, 2]) it.calls[0]?.event({ jsonrpc: "2.0", id, method: "elicitation/create", params });
    await vi.waitFor(() =>
      expect(out.events).toMatchObject([{ asks: [{ key: "user_name" }] }, { asks: [{ key: "a1" }] }]),
    );
    it.end(it.calls[0]);
    await running;
  });

  test.each([
    ["an error", { error: { code: -32603, message: "cannot" } }, "fault"],
    ["a failed tool", { result: { content: [], isError: true } }, "fault"],
    ["a result", { result: { content: [] } }, "result"],
  ])(
    "a refused question that ends in %s is told to callers of 2026-07-28 as what it needs",
    async (_, answer, outcome) => {
      await using it = await openListening(fakeSession("a"));
      const origin = { front: "mcp", protocol: "2026-07-28", requestId: "1" };
      const out = new FakeOut();
      const running = it.provider.run(toolCall("x", {}, { session: it.session, origin }), out);
      await vi.waitFor(() => expect(it.calls).toHaveLength(1));
      const ask = (id: number, method: string, params: object) =>
        it.calls[0]?.event({ jsonrpc: "2.0", id, method, params });
      ask(0, "sampling/createMessage", { messages: [], tools: [] });
      ask(1, "elicitation/create", { message: "?" });
      await vi.waitFor(() =>
        expect(it.answers).toMatchObject([{ error: { code: -32601 } }, { error: { code: -32601 } }]),
      );
      it.calls[0]?.event({ jsonrpc: "2.0", id: it.calls[0].message.id, ...answer });
      it.calls[0]?.end();
      await running;
      const requiredCapabilities = { sampling: { tools: {} }, elicitation: { form: {} } };
      expect(out.ends).toMatchObject([{ outcome }]);
      if (outcome === "fault") expect(out.result).toMatchObject({ code: -32021, data: { requiredCapabilities } });
      else expect(out.result).toEqual({ content: [] });
    },
  );

  test("answers as the client's message spells it, without members that JSON-RPC does not have", async () => {
    await using it = await openListening();
    const out = new FakeOut();
    const call = toolCall("x", {}, { session: it.session });
    const running = it.provider.run(call, out);
    await vi.waitFor(() => expect(it.calls).toHaveLength(1));
    it.calls[0]?.event({ jsonrpc: "2.0", id: "q-1", method: "vendor/ask", params: { x: 1 } });
    await vi.waitFor(() =>
      expect(out.events).toMatchObject([{ type: "ask", asks: [{ kind: "raw", method: "vendor/ask" }] }]),
    );
    const text = '{"jsonrpc":"2.0","id":5,"result":{"y":2},"vendor":true}';
    const { body } = skimMessage(text);
    it.provider.reply(call.id, { type: "answer", answers: [{ key: "a1", outcome: "result", payload: body }] });
    await vi.waitFor(() => expect(it.answers).toEqual([{ jsonrpc: "2.0", id: "q-1", result: { y: 2 } }]));
    it.end(it.calls[0]);
    await running;
  });
});
