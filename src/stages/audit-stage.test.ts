import { describe, expect, test } from "vitest";
import { type Call, type CallEvent, GatewayError, jsonText, type Next, payload } from "../contract/index.ts";
import { call, end, refuse, rig, TRACE } from "./fixtures/audit-rig.ts";

describe("auditStage", () => {
  test("puts a call on the trail before its caller hears of the end [MG-133] [MG-134] [MG-137] [AP-342]", async () => {
    const watched = rig();
    await watched.run(async (_call, out) => {
      watched.pass(12.34);
      out.write({ type: "progress", payload: payload("{}") });
      out.write(end('{"content":[]}'));
    });
    expect(watched.order).toEqual(["progress", "noted", "end"]);
    expect(watched.events).toEqual([
      {
        timestamp: "2027-01-15T08:00:00.112Z",
        trace_id: TRACE,
        event_type: "TOOL_EXECUTED",
        actor: { type: "agent", id: "acme/ann" },
        target: { server_id: "files", tool_name: "read" },
        result: "SUCCESS",
        details: {
          id: "e1",
          tenant: "acme",
          user: "ann",
          client: "7d1f0c",
          kind: "tool",
          risk_level: "safe",
          validator_applied: "none",
          method: "tools/call",
          protocol: "mcp",
          protocol_version: "2025-11-25",
          request_id: "2",
          duration_ms: 12.3,
          bytes_in: call.input.text.length,
          bytes_out: 14,
          attempt: 1,
          "rateLimit.hit": false,
          "cache.hit": false,
        },
      },
    ]);
  });

  test.each([
    ["NOT_ALLOWED", "BLOCKED"],
    ["LIMITED", "BLOCKED"],
    ["CONFIRMATION_REQUIRED", "PENDING"],
  ] as const)("puts a refusal on it with its code: %s [MG-138]", async (code, result) => {
    const watched = rig({ hasPlain: false });
    await expect(watched.run(refuse(code, { details: { level: "user", source: "binding" } }))).rejects.toThrow();
    expect(watched.events).toMatchObject([
      {
        event_type: "TOOL_BLOCKED",
        result,
        details: { code, reason: code, "rateLimit.hit": "user", source: "binding" },
      },
    ]);
  });

  test.each<[string, CallEvent]>([
    ["fault", end("{}", "fault")],
    ["tool_error", end('{"content":[],"isError":true}')],
    ["DEADLINE_PASSED", { type: "error", error: new GatewayError("DEADLINE_PASSED", { cause: new RangeError("no") }) }],
  ])("says that a call has failed, and how: %s", async (code, event) => {
    const watched = rig();
    await watched.run(async (_call, out) => void out.write(event));
    expect(watched.events).toMatchObject([{ event_type: "TOOL_EXECUTED", result: "FAILURE", details: { code } }]);
  });

  test("takes no word in a result for its flag", async () => {
    const watched = rig();
    await watched.run(
      async (_call, out) => void out.write(end('{"content":[{"text":"\\"isError\\":true"}],"isError":false}')),
    );
    expect(watched.events).toMatchObject([{ result: "SUCCESS" }]);
  });

  test("names the class of what was thrown, and none of its words [AP-546]", async () => {
    const watched = rig();
    const cause = new RangeError("the password is hunter2");
    await expect(watched.run(refuse("OUTCOME_UNKNOWN", { cause, message: "hunter2" }))).rejects.toThrow();
    expect(watched.events).toMatchObject([{ details: { exception: "RangeError", reason: "OUTCOME_UNKNOWN" } }]);
    expect(watched.lines.join("")).not.toContain("hunter2");
  });

  test("has one event for each try that failed, which names the first", async () => {
    const watched = rig();
    const timing = { ...(call.timing as NonNullable<Call["timing"]>), repeats: 2 };
    await watched.run(async (_call, out) => void out.write(end("{}")), { timing });
    expect(watched.events.map(({ result, details }) => [result, details.attempt, details.retry_of])).toEqual([
      ["FAILURE", 1, undefined],
      ["FAILURE", 2, "e1"],
      ["SUCCESS", 3, "e1"],
    ]);
  });

  test("records of arguments a digest, their names and kinds, of refused calls or where it is asked for", async () => {
    const shown = { arguments: { path: "string", limit: "number" }, args_sha256: expect.stringMatching(/^[\w-]{43}$/) };
    const refused = rig();
    await expect(refused.run(refuse("NOT_ALLOWED"))).rejects.toThrow();
    const asked = rig({ hasDigest: true });
    await asked.run(async (_call, out) => void out.write(end("{}")));
    for (const { events, lines } of [refused, asked]) {
      expect(events).toMatchObject([{ details: shown }]);
      expect(lines.join("")).not.toContain("/secret/place");
    }
    const plain = rig();
    await plain.run(async (_call, out) => void out.write(end("{}")));
    expect(plain.events[0]?.details).not.toHaveProperty("args_sha256");
  });

  test("records values only by rule, and never what is called or looks like a secret", async () => {
    const input = payload(
      jsonText({
        name: "read",
        arguments: {
          path: "/a",
          größe: 3,
          password: "hunter2",
          note: "Bearer abcdefghijklmnop",
          deep: { token: "hunter2", ok: 1 },
          other: "x",
        },
      }),
    );
    const watched = rig({
      capture: [{ tools: ["files.*"], arguments: ["path", "größe", "password", "note", "deep", "none"] }],
    });
    await watched.run(async (_call, out) => void out.write(end("{}")), { input });
    expect(watched.events[0]?.details.captured).toEqual({
      path: "/a",
      größe: 3,
      password: "[redacted]",
      note: "[redacted]",
      deep: { token: "[redacted]", ok: 1 },
    });
    const elsewhere = rig({ capture: [{ tools: ["crm.*"], arguments: ["path"] }] });
    await elsewhere.run(async (_call, out) => void out.write(end("{}")), { input });
    expect(elsewhere.events[0]?.details).not.toHaveProperty("captured");
  });

  test("records where an address leads, and no password or token in it", async () => {
    const watched = rig();
    const target = {
      provider: "web",
      kind: "resource",
      name: "https://u:hunter2@host/a?token=hunter2#hunter2",
    } as const;
    await watched.run(async (_call, out) => void out.write(end("{}")), {
      target,
      verb: "read",
      method: "resources/read",
    });
    expect(watched.events).toMatchObject([{ target: { tool_name: "https://host/a" }, details: { kind: "resource" } }]);
    expect(watched.lines.join("")).not.toContain("hunter2");
  });

  test.each([
    [
      "params._mgp",
      { _mgp: { trace_id: "aaaaaaaa-0000-4000-8000-000000000001" }, trace_id: "aaaaaaaa-0000-4000-8000-00000000000f" },
      {},
    ],
    ["params", { trace_id: "AAAAAAAA-0000-4000-8000-000000000001" }, {}],
    ["_meta", { _meta: { "dev.cloto/mgp": { trace_id: "aaaaaaaa-0000-4000-8000-000000000001" } } }, {}],
    ["traceparent in _meta", { _meta: { traceparent: "00-aaaaaaaa000040008000000000000001-00f067aa0ba902b7-01" } }, {}],
    ["the header", {}, { traceparent: "00-aaaaaaaa000040008000000000000001-00f067aa0ba902b7-01" }],
  ])("takes the trace that the caller names in %s [MG-149]", async (_where, params, origin) => {
    const watched = rig();
    const input = payload(jsonText({ name: "read", ...params }));
    await watched.run(async (_call, out) => void out.write(end("{}")), {
      input,
      origin: { ...call.origin, ...origin },
    });
    expect(watched.events).toMatchObject([{ trace_id: "aaaaaaaa-0000-4000-8000-000000000001" }]);
  });

  test("takes nothing for a trace that is no UUID", async () => {
    const watched = rig();
    const input = payload(jsonText({ name: "read", trace_id: 'x","result":"SUCCESS' }));
    await watched.run(async (_call, out) => void out.write(end("{}")), { input });
    expect(watched.events).toMatchObject([{ trace_id: TRACE }]);
  });

  test.each(['"a \\"quoted\\" id"', '"ü"', "17", `"${"x".repeat(500)}"`])(
    "writes the caller's own id as a string: %s",
    async (requestId) => {
      const watched = rig();
      await watched.run(async (_call, out) => void out.write(end("{}")), { origin: { ...call.origin, requestId } });
      expect(typeof watched.events[0]?.details.request_id).toBe("string");
    },
  );

  test("refuses calls that could not be recorded, unless it is told to let them go", async () => {
    const trail = {
      noteEntry: () => undefined,
      noteThen: async (_entry: unknown, held: { release(): void }) => held.release(),
      flushTurn: () => undefined,
      nextId: () => "e",
      isFull: true,
    };
    let made = 0;
    const next: Next = async (_call, out) => {
      made++;
      out.write(end("{}"));
    };
    await expect(rig({ trail }).run(next)).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
    expect(made).toBe(0);
    await rig({ trail, refusesWhenFull: false }).run(next);
    expect(made).toBe(1);
  });

  test("is told of a run that ends without its stages before the caller is", async () => {
    const watched = rig();
    const run: NonNullable<Call["run"]> = {
      isRead: true,
      onAnswers: undefined,
      witness: undefined,
      lingering: undefined,
    };
    const made = watched.run(() => new Promise(() => undefined), { run });
    run.witness?.ending(new GatewayError("CANCELLED"));
    expect(watched.order).toEqual(["noted"]);
    expect(watched.events).toMatchObject([{ result: "FAILURE", details: { code: "CANCELLED" } }]);
    run.witness?.ending(new GatewayError("CANCELLED"));
    expect(watched.events).toHaveLength(1);
    expect(await Promise.race([made, "waits"])).toBe("waits");
  });

  test("lets go of what it holds when the run ends meanwhile", async () => {
    let held: { release(): void } | undefined;
    const trail = {
      noteEntry: () => undefined,
      noteThen: (_entry: unknown, one: { release(): void }) => {
        held = one;
        return new Promise<void>(() => undefined);
      },
      flushTurn: () => held?.release(),
      nextId: () => "e",
      isFull: false,
    };
    const watched = rig({ trail });
    const run: NonNullable<Call["run"]> = {
      isRead: true,
      onAnswers: undefined,
      witness: undefined,
      lingering: undefined,
    };
    void watched.run(async (_call, out) => void out.write(end("{}")), { run });
    expect(watched.order).toEqual([]);
    run.witness?.ending(new GatewayError("CANCELLED"));
    expect(watched.order).toEqual(["end"]);
  });

  test("gives the end on once, also where it is safe at once", async () => {
    const trail = {
      noteEntry: () => undefined,
      noteThen: (_entry: unknown, held: { release(): void }) => Promise.resolve(held.release()),
      flushTurn: () => undefined,
      nextId: () => "e",
      isFull: false,
    };
    const watched = rig({ trail });
    await watched.run(async (_call, out) => void out.write(end("{}")));
    expect(watched.order).toEqual(["end"]);
  });

  test("leaves alone what only speaks about another call, and plain calls where decisions are wanted", async () => {
    const watched = rig();
    await watched.run(async (_call, out) => void out.write(end("{}")), { resumes: "c0" });
    expect(watched.lines).toEqual([]);
    const decisions = rig({ hasPlain: false });
    await decisions.run(async (_call, out) => void out.write(end("{}")));
    expect(decisions.lines).toEqual([]);
  });
});
