import { describe, expect, test } from "vitest";
import { type Call, payload } from "../contract/index.ts";
import { call, end, refuse, rig, TRACE } from "./fixtures/audit-rig.ts";

describe("the feed of calls", () => {
  const told = ({ heard }: ReturnType<typeof rig>) => heard.map(({ json }) => JSON.parse(json) as object);

  test("tells of the start and the end of every call, in the form of the document [AP-535] [AP-341]", async () => {
    const watched = rig({ hasPlain: false });
    watched.listen();
    const timing = { ...(call.timing as NonNullable<Call["timing"]>), sentAt: 0 };
    await watched.run(
      async (_call, out) => {
        watched.pass(40);
        out.write(end("{}"));
      },
      { timing },
    );
    const common = { tenant: "acme", user: "ann", wcit: "7d1f0c", primitive: "read", server: "files", protocol: "mcp" };
    expect(told(watched)).toEqual([
      { event: "call.start", at: "2027-01-15T08:00:00.100Z", ...common },
      {
        event: "call.finish",
        at: "2027-01-15T08:00:00.140Z",
        ...common,
        latency: 40,
        outcome: "ok",
        bytes_in: call.input.text.length,
        bytes_out: 2,
        "rateLimit.hit": false,
        "cache.hit": true,
        reason: null,
        exception: null,
        request_id: "2",
        task_id: null,
        trace_id: TRACE,
      },
    ]);
    expect(watched.lines).toEqual([]);
  });

  const finished = async (change: Partial<Call> = {}) => {
    const watched = rig();
    watched.listen();
    await watched.run(async (_call, out) => {
      watched.pass(7);
      out.write({ type: "chunk", payload: payload("123456") });
      out.write(end("{}"));
    }, change);
    return told(watched)[1];
  };

  test("says whose call it is, of what, and how it came [AP-536] [AP-537] [AP-538] [AP-539] [AP-540]", async () => {
    const whose = { tenant: "acme", user: "ann", wcit: "7d1f0c" };
    expect(await finished()).toMatchObject({ ...whose, primitive: "read", server: "files", protocol: "mcp" });
  });

  test("says how long it took, how much went in and out, and whether anybody was asked [AP-541] [AP-543] [AP-545]", async () => {
    const sizes = { bytes_in: call.input.text.length, bytes_out: 8 };
    expect(await finished()).toMatchObject({ latency: 7, ...sizes, "cache.hit": false });
    const timing = { ...(call.timing as NonNullable<Call["timing"]>), sentAt: 0 };
    expect(await finished({ timing })).toMatchObject({ "cache.hit": true });
  });

  test.each([
    ["LIMITED", "rate_limited"],
    ["NOT_ALLOWED", "denied"],
    ["OUTCOME_UNKNOWN", "crash"],
  ] as const)("words the code %s as %s [AP-542] [AP-544]", async (code, outcome) => {
    const watched = rig();
    watched.listen();
    await expect(watched.run(refuse(code, { details: { level: "primitive" } }))).rejects.toThrow();
    expect(told(watched)[1]).toMatchObject({ outcome, reason: code, "rateLimit.hit": "primitive" });
  });

  test("is silent when nobody listens any more", async () => {
    const watched = rig();
    watched.listen()();
    await watched.run(async (_call, out) => void out.write(end("{}")));
    expect(watched.heard).toEqual([]);
  });
});
