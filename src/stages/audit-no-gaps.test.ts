import { describe, expect, test } from "vitest";
import { ManualTime } from "../../tests/kit/manual-time.ts";
import { KeptLog, KeptMeter } from "../../tests/kit/quiet.ts";
import { JsonFault, type Next, payload } from "../contract/index.ts";
import { passingSigner, Trail } from "../mechanisms/audit/index.ts";
import { end, refuse, rig, TRACE } from "./fixtures/audit-rig.ts";

const OTHER = "aaaaaaaa-0000-4000-8000-000000000001";
const quietPorts = () => ({ timers: new ManualTime(), log: new KeptLog(), meter: new KeptMeter() });

describe("whatever callers and servers say, the trail", () => {
  test.each([
    ["_mgp", `{"name":"read","_mgp":{"trace_id":"${OTHER}","trace_id":"${OTHER}"}}`],
    ["_mgp, with an escape", `{"name":"read","_mgp":{"trace_id":"${OTHER}","trace\\u005fid":"${OTHER}"}}`],
    ["_meta", `{"_meta":{"dev.cloto/mgp":{"trace_id":"${OTHER}","trace_id":"x"}}}`],
    ["dev.cloto/mgp", '{"_meta":{"dev.cloto/mgp":{"trace_id":"x"},"dev.cloto/mgp":{}}}'],
    ["traceparent", '{"_meta":{"traceparent":"x","traceparent":"y"}}'],
  ])("takes none for a trace that is named twice in %s, and loses no event over it", async (_where, text) => {
    const input = payload(text);
    const made = rig();
    made.listen();
    await made.run(async (_call, out) => void out.write(end("{}")), { input });
    expect(made.order).toEqual(["noted", "end"]);
    expect(made.events).toMatchObject([{ trace_id: TRACE, event_type: "TOOL_EXECUTED" }]);
    expect(made.heard).toHaveLength(2);
    const refused = rig({ hasPlain: false });
    await expect(refused.run(refuse("NOT_ALLOWED"), { input })).rejects.toThrow();
    expect(refused.events).toMatchObject([{ trace_id: TRACE, event_type: "TOOL_BLOCKED" }]);
  });

  test("has an event of a call whose arguments, or whose server's words, can be read in two ways", async () => {
    const ambiguous = rig({ hasDigest: true });
    const input = payload('{"name":"read","arguments":{"path":"a"},"arguments":{"path":"b"}}');
    const result = end('{"isError":true,"isError":false}');
    await ambiguous.run(async (_call, out) => void out.write(result), { input });
    expect(ambiguous.order).toEqual(["noted", "end"]);
    expect(ambiguous.events[0]?.details).not.toHaveProperty("args_sha256");
    const definition = payload('{"name":"read","security":{"risk_level":"safe","risk_level":"safe"}}');
    const shady = rig({}, { definition });
    await shady.run(async (_call, out) => void out.write(end("{}")));
    expect(shady.events).toMatchObject([{ result: "SUCCESS", details: { risk_level: "dangerous" } }]);
  });

  test("has at least what is known of a call where something about it cannot be written down", async () => {
    const watched = rig();
    await watched.run(async (_call, out) => void out.write(end("{}")), { method: undefined as never });
    expect(watched.order).toEqual(["noted", "end"]);
    expect(watched.events).toMatchObject([
      {
        ...{ event_type: "TOOL_EXECUTED", actor: { id: "acme/ann" }, target: { tool_name: "read" }, trace_id: TRACE },
        ...{ result: "SUCCESS", details: { code: "ok", tenant: "acme", cut: true, exception: "TypeError" } },
      },
    ]);
  });

  test("calls it a refusal that a stage could read the input in two ways, as the caller is told", async () => {
    const watched = rig({ hasPlain: false });
    const next: Next = async ({ input }) => void input.at(["a"]);
    await expect(watched.run(next, { input: payload('{"a":1,"a":2}') })).rejects.toThrow(JsonFault);
    expect(watched.events).toMatchObject([{ event_type: "TOOL_BLOCKED", details: { code: "BAD_CALL" } }]);
  });

  test("has an event of a call that went through without an end", async () => {
    const watched = rig();
    await watched.run(async () => undefined);
    expect(watched.events).toMatchObject([{ result: "FAILURE", details: { code: "INTERNAL" } }]);
  });

  test.each(["call.start", "call.finish"])("has an event of a call whose listeners fail over its %s", async (type) => {
    const watched = rig();
    watched.listen((event) => {
      if (event.type === type) throw new Error("no");
    });
    await expect(watched.run(async (_call, out) => void out.write(end("{}")))).rejects.toThrow("no");
    expect(watched.events).toHaveLength(1);
  });

  test("keeps what its caller's side throws at the end from the calls whose ends go out with it", async () => {
    const order: string[] = [];
    const trail = new Trail({ ...quietPorts(), signer: passingSigner(), maxBytes: 1_000, sinks: [], now: () => 0 });
    const broken = rig(
      { trail },
      {
        onEvent: () => {
          throw new Error("no");
        },
      },
    );
    const whole = rig({ trail }, { onEvent: (type) => void order.push(type) });
    const next: Next = async (_call, out) => void out.write(end("{}"));
    const made = await Promise.allSettled([broken.run(next), whole.run(next)]);
    expect(made.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
    expect(order).toEqual(["end"]);
  });
});
