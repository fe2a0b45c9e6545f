import { describe, expect, test, vi } from "vitest";
import { describeProvider } from "../../../tests/kit/describe-provider.ts";
import { FakeOut, fakeCall, fakeSession, toolCall } from "../../../tests/kit/fake-host.ts";
import { type CallEvent, payload } from "../../contract/index.ts";
import { createProvider, openProvider, stdioConfig } from "./fixtures/setup.ts";

describeProvider("mcpProvider over stdio", () => ({
  provider: createProvider(stdioConfig()),
  quickCall: () => toolCall("echo", { a: 1 }),
  endlessCall: () => toolCall("never"),
}));

const textOf = (out: FakeOut) => JSON.parse((out.result as { content: [{ text: string }] }).content[0].text);

describe("mcpProvider over stdio", () => {
  test("offers what the server lists, byte for byte", async () => {
    await using setup = await openProvider(stdioConfig());
    const { host } = setup;
    expect(host.names("tool")).toContain("echo");
    expect(host.names("resource")).toEqual(["file:///a"]);
    expect(host.names("template")).toEqual([]);
    const tools = host.offers.get("shared")?.get("tool");
    expect(tools?.extras).toBe('"_meta":{"a":1}');
    expect(tools?.primitives[0]).toMatchObject({ kind: "tool", name: "echo", repeatable: true });
    expect(tools?.primitives[0]?.definition.text).toBe(
      '{"name":"echo","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}',
    );
    expect(tools?.primitives[1]?.repeatable).toBe(false);
    expect(host.states.map((state) => state.status)).toEqual(["starting", "ok"]);
    expect(host.states[1]?.about?.instructions).toBe("be kind");
    expect(host.states[1]?.about?.capabilities.value()).toMatchObject({ experimental: { x: 1 } });
  });

  test("relays arguments and unknown members untouched", async () => {
    await using setup = await openProvider(stdioConfig());
    const out = new FakeOut();
    await setup.provider.run(toolCall("echo", { big: 1, ü: "€" }, { input: { _meta: { own: true } } }), out);
    expect(out.result).toMatchObject({ structuredContent: { big: 1, ü: "€" }, seen: { own: true } });
  });

  test("relays the server's own error as a fault", async () => {
    await using setup = await openProvider(stdioConfig());
    const out = new FakeOut();
    await setup.provider.run(toolCall("nope"), out);
    expect(out.ends).toEqual([expect.objectContaining({ type: "end", outcome: "fault" })]);
    expect(out.result).toEqual({ code: -32602, message: "unknown tool" });
  });

  test("gives progress to the call that asked for it, under our token", async () => {
    await using setup = await openProvider(stdioConfig());
    const out = new FakeOut();
    await setup.provider.run(toolCall("progress", {}, { input: { _meta: { progressToken: "theirs" } } }), out);
    expect(out.events.map((event) => event.type)).toEqual(["progress", "progress", "end"]);
    const silent = new FakeOut();
    await setup.provider.run(toolCall("progress"), silent);
    expect(silent.events.map((event) => event.type)).toEqual(["end"]);
  });

  test("shares one process among clients that cannot be asked, and declares nothing for it", async () => {
    await using setup = await openProvider(stdioConfig());
    const outs = [new FakeOut(), new FakeOut()];
    await setup.provider.run(toolCall("who", {}, { session: fakeSession("a") }), outs[0] as FakeOut);
    await setup.provider.run(toolCall("who", {}, { session: fakeSession("b") }), outs[1] as FakeOut);
    expect(textOf(outs[0] as FakeOut).pid).toBe(textOf(outs[1] as FakeOut).pid);
    expect(textOf(outs[0] as FakeOut).client).toEqual({
      clientInfo: { name: "isthmus", version: "9" },
      capabilities: {},
    });
  });

  test("gives a client that can be asked a process of its own, in its name", async () => {
    await using setup = await openProvider(stdioConfig());
    const session = fakeSession("a", { capabilities: { elicitation: {} } });
    expect(await setup.provider.scope(session)).toBe("session:a");
    expect(setup.host.names("tool", "session:a")).toContain("echo");
    const [own, shared] = [new FakeOut(), new FakeOut()];
    await setup.provider.run(toolCall("who", {}, { session }), own);
    await setup.provider.run(toolCall("who"), shared);
    expect(textOf(own).pid).not.toBe(textOf(shared).pid);
    expect(textOf(own).client).toEqual({
      clientInfo: { name: "test-client", version: "1" },
      capabilities: { elicitation: {} },
    });
  });

  test("puts a question of the server to the call in flight and relays the answer", async () => {
    await using setup = await openProvider(stdioConfig());
    const out = new FakeOut();
    const call = toolCall("ask", {}, { session: fakeSession("a", { capabilities: { elicitation: {} } }) });
    out.onEvent = (event) => {
      if (event.type !== "ask") return;
      expect(event.asks).toMatchObject([{ key: "a1", kind: "elicit", method: "elicitation/create" }]);
      setup.provider.reply(call.id, {
        type: "answer",
        answers: [{ key: "a1", outcome: "result", payload: payload('{"action":"accept"}') }],
      });
    };
    await setup.provider.run(call, out);
    expect(textOf(out)).toEqual({ action: "accept" });
  });

  test("refuses questions on the shared session", async () => {
    await using setup = await openProvider(stdioConfig());
    const out = new FakeOut();
    await setup.provider.run(toolCall("ask"), out);
    expect(textOf(out)).toMatchObject({ code: -32601 });
    expect(out.events).toHaveLength(1);
  });

  test("refuses a question that the client did not declare", async () => {
    await using setup = await openProvider(stdioConfig());
    const out = new FakeOut();
    await setup.provider.run(toolCall("ask", {}, { session: fakeSession("a", { capabilities: { roots: {} } }) }), out);
    expect(textOf(out)).toMatchObject({ code: -32601 });
  });

  test("asks the client itself when no call is in flight", async () => {
    await using setup = await openProvider(stdioConfig());
    setup.host.answer = ({ key }) => Promise.resolve({ key, outcome: "result", payload: payload('{"roots":[]}') });
    const session = fakeSession("a", { capabilities: { roots: {} } });
    await setup.provider.run(toolCall("askLate", {}, { session }), new FakeOut());
    await vi.waitFor(() => expect(setup.host.notices).toHaveLength(1));
    expect(setup.host.asks[0]).toMatchObject({ session: { id: "a" }, ask: { kind: "roots", method: "roots/list" } });
    expect(setup.host.notices[0]).toMatchObject({ to: { session: "a" }, method: "notifications/message" });
    expect(setup.host.notices[0]?.payload.value()).toMatchObject({ data: { roots: [] } });
  });

  test("gives the server's own token back on progress about its question", async () => {
    await using setup = await openProvider(stdioConfig());
    const out = new FakeOut();
    const call = toolCall("progressOnAsk", {}, { session: fakeSession("a", { capabilities: { sampling: {} } }) });
    const seen = new Promise<CallEvent>((resolve) => {
      out.onEvent = (event) => {
        if (event.type === "log") resolve(event);
        if (event.type !== "ask") return;
        setup.provider.reply(call.id, {
          type: "notice",
          method: "notifications/progress",
          payload: payload('{"progressToken":"front","progress":1}'),
          key: "a1",
        });
      };
    });
    const running = setup.provider.run(call, out);
    const log = await seen;
    expect(log.type === "log" && log.payload.value()).toMatchObject({ data: { progressToken: "mine", progress: 1 } });
    setup.provider.reply(call.id, {
      type: "answer",
      answers: [{ key: "a1", outcome: "fault", payload: payload('{"code":-1,"message":"no"}') }],
    });
    await running;
    expect(textOf(out)).toEqual({ code: -1, message: "no" });
  });

  test("tells the server of a cancel under the id it knows", async () => {
    await using setup = await openProvider(stdioConfig());
    const call = toolCall("never");
    const running = setup.provider.run(call, new FakeOut()).catch((error: unknown) => error);
    setup.provider.reply(call.id, { type: "cancel", reason: "enough" });
    const out = new FakeOut();
    await setup.provider.run(toolCall("cancelled"), out);
    expect(textOf(out)).toEqual([{ requestId: expect.any(Number), reason: "enough" }]);
    await setup.provider.close();
    expect(await running).toMatchObject({ code: "CANCELLED" });
  });

  test("ends the calls on the pipe of a server that dies, says why, and starts it again", async () => {
    await using setup = await openProvider(stdioConfig());
    const other = setup.provider.run(toolCall("never"), new FakeOut()).catch((error: unknown) => error);
    const error = await setup.provider.run(toolCall("die"), new FakeOut()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "OUTCOME_UNKNOWN" });
    expect(await other).toMatchObject({ code: "OUTCOME_UNKNOWN" });
    expect(setup.host.states.at(-1)).toEqual({ status: "unreachable", message: "exited with code 3" });
    const out = new FakeOut();
    await setup.provider.run(toolCall("echo"), out); // waits for the new process
    expect(out.ends).toHaveLength(1);
    await vi.waitFor(() => expect(setup.host.status).toBe("ok"));
  });

  test("a client's process that dies ends that client's calls alone", async () => {
    await using setup = await openProvider(stdioConfig());
    const session = (id: string) => fakeSession(id, { capabilities: { elicitation: {} } });
    const other = toolCall("never", {}, { session: session("b") });
    const running = setup.provider.run(other, new FakeOut()).catch((error: unknown) => error);
    await setup.provider.scope(session("b"));
    const error = await setup.provider
      .run(toolCall("die", {}, { session: session("a") }), new FakeOut())
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "OUTCOME_UNKNOWN" });
    expect(setup.host.status).toBe("ok");
    setup.provider.reply(other.id, { type: "cancel" });
    await setup.provider.close();
    expect(await running).toMatchObject({ code: "CANCELLED" });
  });

  test("survives text on stdout that is no message", async () => {
    await using setup = await openProvider(stdioConfig());
    const out = new FakeOut();
    await setup.provider.run(toolCall("garbage"), out);
    expect(out.ends).toHaveLength(1);
  });

  test("fails a call whose answer repeats a key", async () => {
    await using setup = await openProvider(stdioConfig());
    await expect(setup.provider.run(toolCall("twice"), new FakeOut())).rejects.toMatchObject({
      code: "PROVIDER_FAILED",
    });
  });

  test("fails a call whose answer is too large", async () => {
    await using setup = await openProvider(stdioConfig({}, { maxMessage: "100KB" }));
    await expect(setup.provider.run(toolCall("huge"), new FakeOut())).rejects.toMatchObject({
      code: "PROVIDER_FAILED",
    });
  });

  test("does not know what became of other calls on a pipe that one answer broke", async () => {
    await using setup = await openProvider(stdioConfig({}, { maxMessage: "100KB" }));
    const other = setup.provider.run(toolCall("never"), new FakeOut());
    const guilty = setup.provider.run(toolCall("huge"), new FakeOut());
    await expect(other).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
    await expect(guilty).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
  });

  test("lists again when the server says that its list has changed", async () => {
    await using setup = await openProvider(stdioConfig());
    await setup.provider.run(toolCall("change"), new FakeOut());
    await vi.waitFor(() => expect(setup.host.names("tool").at(-1)).toMatch(/^extra/));
    expect(setup.host.notices).toEqual([]);
  });

  test("gives tasks the id of their call, in both directions", async () => {
    await using setup = await openProvider(stdioConfig());
    const session = fakeSession("a", { capabilities: { elicitation: {} } });
    const out = new FakeOut();
    const made = toolCall("task", {}, { session, input: { task: { ttl: 60_000 } } });
    await setup.provider.run(made, out);
    expect(out.ends).toMatchObject([{ outcome: "task", ttlMs: 60_000 }]);
    expect(out.result).toMatchObject({
      task: { taskId: made.id },
      _meta: { "io.modelcontextprotocol/related-task": { taskId: made.id } },
    });
    await vi.waitFor(() => expect(setup.host.notices).toHaveLength(1));
    expect(setup.host.notices[0]).toMatchObject({ to: { session: "a" }, method: "notifications/tasks/status" });
    expect(setup.host.notices[0]?.payload.value()).toMatchObject({ taskId: made.id });

    const about = { session, resumes: made.id, verb: "raw", input: { taskId: made.id } } as const;
    const got = new FakeOut();
    await setup.provider.run(fakeCall({ ...about, method: "tasks/get" }), got);
    expect(got.result).toEqual({ taskId: made.id, status: "working" });

    const result = new FakeOut();
    const waiting = fakeCall({ ...about, method: "tasks/result" });
    result.onEvent = (event) => {
      if (event.type !== "ask") return;
      expect(event.asks[0]?.input.value()).toMatchObject({
        _meta: { "io.modelcontextprotocol/related-task": { taskId: made.id } },
      });
      const answer = `{"action":"accept","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"${made.id}"}}}`;
      setup.provider.reply(waiting.id, {
        type: "answer",
        answers: [{ key: "a1", outcome: "result", payload: payload(answer) }],
      });
    };
    await setup.provider.run(waiting, result);
    expect(textOf(result)).toEqual({
      action: "accept",
      _meta: { "io.modelcontextprotocol/related-task": { taskId: "up-1" } },
    });
    expect(result.result).toMatchObject({ _meta: { "io.modelcontextprotocol/related-task": { taskId: made.id } } });
  });

  test("keeps the session of a released client while its tasks live", async () => {
    await using setup = await openProvider(stdioConfig());
    const session = fakeSession("a", { capabilities: { elicitation: {} } });
    const made = toolCall("task", {}, { session, input: { task: { ttl: 60_000 } } });
    await setup.provider.run(made, new FakeOut());
    setup.provider.release(session);
    const got = new FakeOut();
    await setup.provider.run(
      fakeCall({ resumes: made.id, verb: "raw", method: "tasks/get", input: { taskId: made.id } }),
      got,
    );
    expect(got.result).toMatchObject({ taskId: made.id });
  });

  test("refuses to speak about a task it does not know", async () => {
    await using setup = await openProvider(stdioConfig());
    const call = fakeCall({ resumes: "gone", verb: "raw", method: "tasks/get", input: { taskId: "gone" } });
    await expect(setup.provider.run(call, new FakeOut())).rejects.toMatchObject({ code: "NO_SUCH_TARGET" });
  });

  test("ties a log line to the only call in flight, and to nobody when principals differ", async () => {
    await using setup = await openProvider(stdioConfig());
    const alone = new FakeOut();
    await setup.provider.run(toolCall("log"), alone);
    expect(alone.events.map((event) => event.type)).toEqual(["log", "end"]);
    const other = new FakeOut();
    await setup.provider.run(toolCall("log", {}, { principal: { id: "else" } }), other);
    expect(other.events.map((event) => event.type)).toEqual(["end"]);
    expect(setup.meter.counts.get("isthmus_notices_dropped_total unattributable")).toBe(1);
  });

  test("subscribes once for all sessions that share, and answers the others itself", async () => {
    await using setup = await openProvider(stdioConfig());
    const subscribe = (session: string, method = "resources/subscribe") => {
      const out = new FakeOut();
      const call = fakeCall({ verb: "subscribe", method, session: fakeSession(session), input: { uri: "file:///a" } });
      return setup.provider.run(call, out).then(() => out.result);
    };
    expect(await subscribe("a")).toEqual({});
    expect(await subscribe("b")).toEqual({});
    await vi.waitFor(() => expect(setup.host.notices).toHaveLength(1));
    expect(setup.host.notices[0]).toMatchObject({
      to: { resource: "file:///a" },
      method: "notifications/resources/updated",
    });
    expect(await subscribe("a", "resources/unsubscribe")).toEqual({});
    setup.provider.release(fakeSession("b"));
    expect(await subscribe("c")).toEqual({});
    await vi.waitFor(() => expect(setup.host.notices).toHaveLength(2)); // the server was asked anew
  });

  test("sends the lowest log level of those who share", async () => {
    await using setup = await openProvider(stdioConfig());
    await setup.provider.run(toolCall("echo"), new FakeOut());
    const levels = () => setup.host.notices.map((notice) => (notice.payload.value() as { data: string }).data);
    setup.provider.notify(fakeSession("a"), "logging/setLevel", payload('{"level":"error"}'));
    setup.provider.notify(fakeSession("b"), "logging/setLevel", payload('{"level":"debug"}'));
    setup.provider.notify(fakeSession("c"), "logging/setLevel", payload('{"level":"alert"}'));
    await vi.waitFor(() => expect(levels()).toEqual(["level error", "level debug"]));
  });

  test("relays notifications of a client to its own session, and what comes back to it", async () => {
    await using setup = await openProvider(stdioConfig({}, { sessions: "per-client" }));
    const session = fakeSession("a");
    await setup.provider.scope(session);
    setup.provider.notify(session, "notifications/custom", payload('{"x":1}'));
    await vi.waitFor(() => expect(setup.host.notices).toHaveLength(1));
    expect(setup.host.notices[0]).toMatchObject({ to: { session: "a" }, method: "notifications/custom/back" });
  });

  test("gives children only harmless variables and those of the config", async () => {
    process.env.SECRET_OF_TEST = "x";
    await using setup = await openProvider(stdioConfig({}, { env: { FIXTURE: "yes" } }));
    const out = new FakeOut();
    await setup.provider.run(toolCall("who"), out);
    expect(textOf(out)).toMatchObject({ env: "yes", secret: null });
  });

  test.each([
    ["exits at once", stdioConfig({ exit: 4 }), { status: "unreachable", message: "exited with code 4" }],
    [
      "does not exist",
      { command: "no-such-command-here" },
      { status: "unreachable", message: expect.stringContaining("not found") },
    ],
    [
      "refuses to open",
      stdioConfig({ refuse: true }),
      { status: "invalid", message: expect.stringContaining("-32000") },
    ],
    [
      "speaks an unknown revision",
      stdioConfig({ version: "1999-01-01" }),
      { status: "invalid", message: expect.stringContaining("1999") },
    ],
  ])("says so when the server %s, and fails calls", async (_, config, state) => {
    await using setup = await openProvider({ ...config, restart: "never" });
    expect(setup.host.states.at(-1)).toEqual(state);
    const error = await setup.provider
      .run(toolCall("echo", {}, { deadline: performance.now() + 10 }), new FakeOut())
      .catch((thrown: unknown) => thrown);
    expect((error as { code: string }).code).toMatch(/^PROVIDER_/);
  });

  test("evicts the longest idle session, and refuses when all are busy", async () => {
    await using setup = await openProvider(stdioConfig({}, { sessions: "per-client", maxSessions: 1 }));
    await setup.provider.run(toolCall("echo", {}, { session: fakeSession("a") }), new FakeOut());
    const busy = toolCall("never", {}, { session: fakeSession("b") });
    const running = setup.provider.run(busy, new FakeOut()).catch((error: unknown) => error);
    await expect(
      setup.provider.run(toolCall("echo", {}, { session: fakeSession("c") }), new FakeOut()),
    ).rejects.toMatchObject({ code: "OVERLOADED" });
    setup.provider.reply(busy.id, { type: "cancel" });
    await running;
  });

  test("closes a client's idle session and opens another for its next call", async () => {
    await using setup = await openProvider(stdioConfig({}, { sessions: "per-client", idle: 40 }));
    const pids = new Set<number>();
    for (let round = 0; round < 2; round++) {
      const out = new FakeOut();
      await setup.provider.run(toolCall("who", {}, { session: fakeSession("a") }), out);
      pids.add(textOf(out).pid);
      await new Promise((resolve) => setTimeout(resolve, 120));
    }
    expect(pids.size).toBe(2);
  });
});
