import { describe, expect, test } from "vitest";
import { type Call, type CallEvent, GatewayError, type Next, type Out, payload, type Span } from "../contract/index.ts";
import { telemetryStage } from "./telemetry-stage.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";
const end: CallEvent = { type: "end", outcome: "result", payload: payload("{}") };

function callWith(input: string, traceparent?: string): Call {
  return {
    id: "c1",
    target: { provider: "files", kind: "tool", name: "read" },
    verb: "call",
    method: "tools/call",
    input: payload(input),
    principal: { id: "local" },
    session: undefined,
    origin: { front: "mcp", protocol: "2025-11-25", requestId: "1", ...(traceparent && { traceparent }) },
    deadline: 0,
    life: "bound",
    signal: new AbortController().signal,
  };
}

async function run(call: Call, next: Next) {
  const spans: Span[] = [];
  let time = 1000;
  const stage = telemetryStage({ spans: { add: (span) => spans.push(span) }, now: () => time++ });
  const out: Out = { write: () => true, ready: () => Promise.resolve() };
  let reached: Call | undefined;
  const ended = await stage(call, out, (given, inner) => {
    reached = given;
    return next(given, inner);
  }).catch((error: unknown) => error);
  return { spans, reached, ended };
}

const answer: Next = async (_call, out) => {
  out.write(end);
};

describe("telemetryStage", () => {
  test("continues the trace that the call names, and tells the provider which span is its parent", async () => {
    const { spans, reached } = await run(
      callWith(`{"name":"read","_meta":{"traceparent":"00-${TRACE}-${SPAN}-01"}}`),
      answer,
    );
    expect(spans).toMatchObject([
      { traceId: TRACE, parentSpanId: SPAN, name: "tools/call read", startMs: 1000, endMs: 1001 },
    ]);
    expect(reached?.input.value()).toEqual({
      name: "read",
      _meta: { traceparent: `00-${TRACE}-${spans[0]?.spanId}-01` },
    });
    expect(reached?.signal).toBeInstanceOf(AbortSignal);
  });

  test.each([
    `{"_meta":{"traceparent":"00-${TRACE}-${SPAN}-01","traceparent":"x"}}`,
    `{"_meta":{"traceparent":"00-${TRACE}-${SPAN}-01","tracep\\u0061rent":"x"}}`,
  ])("lets a call go on as it came where it names a trace twice: %s", async (input) => {
    const { spans, reached } = await run(callWith(input), answer);
    expect(reached?.input.text).toBe(input);
    expect(spans).toHaveLength(1);
    expect(spans[0]?.traceId).not.toBe(TRACE);
  });

  test("takes the transport's trace where the call names none, and starts one where nobody does", async () => {
    const fromHeader = await run(callWith('{"name":"read"}', `00-${TRACE}-${SPAN}-01`), answer);
    expect(fromHeader.spans[0]?.traceId).toBe(TRACE);
    const fromNobody = await run(callWith("", "nonsense"), answer);
    expect(fromNobody.spans[0]?.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(fromNobody.spans[0]).not.toHaveProperty("parentSpanId");
    expect(fromNobody.reached?.input.at(["_meta", "traceparent"])).toContain(fromNobody.spans[0]?.traceId);
  });

  test("says who called, by name and never by what they proved it with", async () => {
    const identity = {
      ...{ tenant: "acme", user: "ann", client: "c-hash", groups: ["staff"], scopes: ["*"], role: undefined },
      ...{ proof: "token" as const, tokenHash: "f00d".repeat(16) },
    };
    const principal = { id: "acme/ann", identity };
    const { spans } = await run({ ...callWith("{}"), principal }, answer);
    expect(spans[0]?.attributes).toMatchObject({
      "isthmus.principal.id": "acme/ann",
      "isthmus.tenant": "acme",
      "user.id": "ann",
    });
    expect(JSON.stringify(spans)).not.toMatch(/f00d|c-hash/);
    const program = { id: "acme/bot", identity: { ...identity, user: "" } };
    const of = await run({ ...callWith("{}"), principal: program }, answer);
    expect(of.spans[0]?.attributes).not.toHaveProperty("user.id");
  });

  test("passes on a trace that is not sampled, and records nothing of it", async () => {
    const { spans, reached } = await run(callWith("{}", `00-${TRACE}-${SPAN}-00`), answer);
    expect(spans).toEqual([]);
    expect(reached?.input.text).toMatch(new RegExp(`00-${TRACE}-[0-9a-f]{16}-00`));
  });

  test("says how the call failed, and nothing of what it carried", async () => {
    const error: CallEvent = { type: "error", error: new GatewayError("DEADLINE_PASSED") };
    const written = await run(callWith('{"arguments":{"secret":"s3cret"}}'), async (_call, out) => {
      out.write(error);
    });
    expect(written.spans[0]?.error).toBe("DEADLINE_PASSED");
    expect(JSON.stringify(written.spans)).not.toContain("s3cret");
    const thrown = await run(callWith("{}"), () => Promise.reject(new GatewayError("OVERLOADED")));
    expect(thrown.spans[0]?.error).toBe("OVERLOADED");
    expect(thrown.ended).toMatchObject({ code: "OVERLOADED" });
    const failed = await run(callWith("{}"), async (_call, out) => {
      out.write({ type: "end", outcome: "result", payload: payload('{"content":[],"isError":true}') });
    });
    expect(failed.spans[0]?.error).toBe("tool_error");
  });

  test("a span has the beginning of a long name", async () => {
    const [method, name] = ["m".repeat(9000), "n".repeat(9000)];
    const target = { provider: "files", kind: "tool", name } as const;
    const { spans } = await run({ ...callWith("{}"), method, target }, answer);
    expect(JSON.stringify(spans).length).toBeLessThan(4000);
  });
});
