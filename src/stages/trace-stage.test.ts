import { describe, expect, test } from "vitest";
import {
  type Call,
  type CallEvent,
  GatewayError,
  JsonFault,
  type Log,
  type LogFields,
  type Next,
  type Out,
  payload,
} from "../contract/index.ts";
import { RecentCalls } from "./recent-calls.ts";
import { traceStage } from "./trace-stage.ts";

const call: Call = {
  id: "c1",
  target: { provider: "files", kind: "tool", name: "read" },
  verb: "call",
  method: "tools/call",
  input: payload("{}"),
  principal: { id: "local" },
  session: undefined,
  origin: { front: "mcp", protocol: "2025-11-25", requestId: "1" },
  deadline: 0,
  life: "bound",
  signal: new AbortController().signal,
};

function watch(next: Next, made = call) {
  let now = 100;
  const lines: [string, LogFields][] = [];
  const counts: unknown[] = [];
  const events: CallEvent[] = [];
  const fail = () => {
    throw new Error("not expected");
  };
  const log: Log = {
    debug: fail,
    warn: fail,
    error: fail,
    child: fail,
    info: (message, fields = {}) => lines.push([message, JSON.parse(JSON.stringify(fields))]),
  };
  const out: Out = {
    write: (event) => {
      events.push(event);
      return events.length < 2;
    },
    ready: () => Promise.resolve(),
  };
  const recent = new RecentCalls(0);
  const stage = traceStage({
    clock: { now: () => now },
    log,
    recent,
    times: { finished: ({ call: { target }, code }) => counts.push([target.name, code]) },
  });
  const pass = (ms: number) => {
    now += ms;
  };
  return { lines, counts, events, recent, pass, run: () => stage(made, out, next) };
}

const result: CallEvent = { type: "end", outcome: "result", payload: payload("{}") };

describe("traceStage", () => {
  test("writes one line per finished call that tells the whole story", async () => {
    const watched = watch(async (_call, out) => {
      watched.pass(12.345);
      out.write(result);
    });
    await watched.run();
    expect(watched.lines).toEqual([
      [
        "call finished",
        { callId: "c1", target: "files/read", principal: "local", front: "mcp", code: "ok", durationMs: 12.3 },
      ],
    ]);
    expect(watched.counts).toEqual([["read", "ok"]]);
    expect(watched.events).toEqual([result]);
  });

  test("shows the beginning of a long name", async () => {
    const name = `x://${"n".repeat(100_000)}`;
    const watched = watch(async () => undefined, { ...call, target: { provider: "files", kind: "resource", name } });
    await watched.run();
    expect(watched.lines).toMatchObject([["call finished", { target: `files/${name.slice(0, 512)}…` }]]);
  });

  test("names the address of the client where the call has it", async () => {
    const watched = watch(async () => undefined, { ...call, origin: { ...call.origin, address: "192.0.2.1" } });
    await watched.run();
    expect(watched.lines).toMatchObject([["call finished", { callId: "c1", code: "ok", address: "192.0.2.1" }]]);
  });

  test("keeps how the call went", async () => {
    const watched = watch(async (_call, out) => {
      watched.pass(2);
      out.write({ type: "error", error: new GatewayError("OVERLOADED") });
    });
    await watched.run();
    expect(watched.recent.find("c1")).toEqual({
      callId: "c1",
      target: "files/read",
      principal: "local",
      front: "mcp",
      code: "OVERLOADED",
      startedAt: "1970-01-01T00:00:00.100Z",
      durationMs: 2,
      steps: [{ name: "call", ms: 2 }],
    });
  });

  test.each<[string, CallEvent]>([
    ["fault", { type: "end", outcome: "fault", payload: payload("{}") }],
    ["tool_error", { type: "end", outcome: "result", payload: payload('{"content":[],"isError":true}') }],
    ["ok", { type: "end", outcome: "result", payload: payload('{"content":[{"text":"\\"isError\\":true"}]}') }],
    ["ok", { type: "end", outcome: "result", payload: payload('{"structuredContent":{"isError":true}}') }],
    ["ok", { type: "end", outcome: "input", payload: payload("{}") }],
    ["ok", { type: "end", outcome: "task", payload: payload("{}") }],
    ["DEADLINE_PASSED", { type: "error", error: new GatewayError("DEADLINE_PASSED") }],
  ])("calls it %s after %o", async (code, event) => {
    const watched = watch(async (_call, out) => {
      out.write(event);
    });
    await watched.run();
    expect(watched.lines[0]?.[1].code).toBe(code);
    expect(watched.counts).toEqual([["read", code]]);
  });

  test("looks for a tool's failure in the answers of tools only", async () => {
    const text = '{"contents":[],"isError":true}';
    const watched = watch(
      async (_call, out) => void out.write({ type: "end", outcome: "result", payload: payload(text) }),
      {
        ...call,
        verb: "read",
      },
    );
    await watched.run();
    expect(watched.counts).toEqual([["read", "ok"]]);
  });

  test.each<[string, unknown]>([
    ["INTERNAL", new Error("broken")],
    ["OVERLOADED", new GatewayError("OVERLOADED")],
    ["BAD_CALL", new JsonFault("repeated-key", 3, "repeated key at byte 3")],
  ])("names a thrown error %s and throws it on", async (code, error) => {
    const watched = watch(() => Promise.reject(error));
    await expect(watched.run()).rejects.toBe(error);
    expect(watched.lines[0]?.[1].code).toBe(code);
  });

  test("passes the reader's answer and readiness through", async () => {
    const answers: unknown[] = [];
    const watched = watch(async (_call, out) => {
      answers.push(out.write({ type: "progress", payload: payload("{}") }), out.write(result), await out.ready());
    });
    await watched.run();
    expect(answers).toEqual([true, false, undefined]);
  });

  test("logs nothing of inputs and outputs", async () => {
    const watched = watch(async (_call, out) => {
      out.write(result);
    });
    await watched.run();
    expect(Object.keys(watched.lines[0]?.[1] ?? {})).toEqual([
      "callId",
      "target",
      "principal",
      "front",
      "code",
      "durationMs",
    ]);
  });
});
