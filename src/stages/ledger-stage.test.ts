import { describe, expect, test } from "vitest";
import { ManualTime } from "../../tests/kit/manual-time.ts";
import { flush } from "../../tests/kit/test-kernel.ts";
import {
  type Admission,
  type Admitted,
  type Call,
  type CallEvent,
  GatewayError,
  type Next,
  type Out,
  payload,
  type SessionRef,
  type Settlement,
} from "../contract/index.ts";
import { forgetLostCalls, lostCalls } from "../mechanisms/runs/index.ts";
import { createMemorySharedState } from "../stores/memory/index.ts";
import { type LedgerOptions, ledgerStage } from "./ledger-stage.ts";

const end: CallEvent = { type: "end", outcome: "result", payload: payload('{"x":1}') };
const answer: Next = async (_call, out) => void out.write(end);

let lastCall = 0;

function callWith(more: Partial<Call> = {}): Call {
  return {
    id: `c${++lastCall}`,
    target: { provider: "files", kind: "tool", name: "read" },
    verb: "call",
    method: "tools/call",
    input: payload('{"name":"read","_meta":{"progressToken":"p-1"}}'),
    principal: { id: "local" },
    session: { id: "s1", isEphemeral: false } as SessionRef,
    origin: { front: "mcp", protocol: "2025-11-25", requestId: '"r-1"' },
    deadline: 60_000,
    life: "resumable",
    signal: new AbortController().signal,
    ...more,
  };
}

function rig(options: Partial<LedgerOptions> = {}) {
  const time = new ManualTime();
  const state = createMemorySharedState({ clock: time });
  const stage = ledgerStage({ state, clock: time, timers: time, member: () => "m1", isShared: true, ...options });
  const events: CallEvent[] = [];
  const out: Out = { write: (event) => events.push(event) > 0, ready: () => Promise.resolve() };
  const run = (call: Call, next: Next) => stage(call, out, next);
  return { time, state, run, events };
}

/** A ledger whose trips the test lets arrive. */
class HeldLedger {
  readonly admitted: { admission: Admission; answer: (admitted: Admitted | Error) => void }[] = [];
  readonly settled: { settlement: Settlement; answer: (error?: Error) => void }[] = [];

  admit(admission: Admission): Promise<Admitted> {
    return new Promise((resolve, reject) => {
      this.admitted.push({ admission, answer: (got) => (got instanceof Error ? reject(got) : resolve(got)) });
    });
  }

  settle(settlement: Settlement): Promise<undefined> {
    return new Promise((resolve, reject) => {
      this.settled.push({ settlement, answer: (error) => (error ? reject(error) : resolve(undefined)) });
    });
  }

  charge = async () => undefined;
  openOf = async () => [];
}

function heldRig(isShared: boolean) {
  const calls = new HeldLedger();
  const { channel } = createMemorySharedState({ clock: new ManualTime() });
  return { calls, ...rig({ state: { calls, channel, isUp: true }, isShared }) };
}

describe("ledgerStage on a call without a name", () => {
  test("keeps its facts, its progress token among them, in shared state for as long as it runs [AP-555]", async () => {
    const { run, state, events } = rig();
    await state.members.join({ id: "m1", address: "" }, 10_000);
    const { promise, resolve } = Promise.withResolvers<void>();
    const call = callWith();
    const running = run(call, () => promise);
    await flush();
    const [open] = await state.calls.openOf("s1");
    expect(open).toMatchObject({ call: call.id, member: "m1", isLost: false });
    expect(JSON.parse(open?.facts ?? "")).toEqual({
      requestId: '"r-1"',
      method: "tools/call",
      trace: call.id,
      target: call.target,
      startedAt: expect.any(Number),
      progressToken: '"p-1"',
    });
    expect(await lostCalls(state.calls, "s1")).toEqual([]);
    await state.members.leave("m1");
    const lost = await lostCalls(state.calls, "s1");
    expect(lost).toMatchObject([{ call: call.id, requestId: '"r-1"', method: "tools/call" }]);
    await forgetLostCalls(state.calls, "s1", lost);
    expect(await state.calls.openOf("s1")).toEqual([]);
    resolve();
    await running;
    expect(events).toEqual([]);
  });

  test("is struck off when it has ended, also when it fails", async () => {
    const { run, state, events } = rig();
    await run(callWith(), answer);
    await expect(run(callWith(), () => Promise.reject(new GatewayError("OVERLOADED")))).rejects.toMatchObject({
      code: "OVERLOADED",
    });
    expect(events).toEqual([end]);
    expect(await state.calls.openOf("s1")).toEqual([]);
  });

  test("does not wait for a store of its own, waits for one that others see, and never for the end", async () => {
    const own = heldRig(false);
    await own.run(callWith(), answer);
    expect([own.events, own.calls.settled.length]).toEqual([[end], 1]);
    const shared = heldRig(true);
    const running = shared.run(callWith(), answer);
    await flush();
    expect(shared.events).toEqual([]);
    shared.calls.admitted[0]?.answer({ type: "open" });
    await running;
    expect([shared.events, shared.calls.settled.length]).toEqual([[end], 1]);
  });

  test("goes on when the store fails", async () => {
    const { run, calls, events } = heldRig(true);
    const running = run(callWith(), answer);
    calls.admitted[0]?.answer(new GatewayError("STATE_UNAVAILABLE"));
    await running;
    calls.settled[0]?.answer(new GatewayError("STATE_UNAVAILABLE"));
    await flush();
    expect(events).toEqual([end]);
  });

  test("is nobody's to ask for when it has no session, or ends with its connection", async () => {
    for (const more of [{ session: undefined }, { life: "bound" }] as const) {
      const { run, calls } = heldRig(false);
      await run(callWith(more), answer);
      expect(calls.admitted[0]?.admission.session).toBeUndefined();
    }
  });
});

describe("ledgerStage on a named call", () => {
  const named = (more: Partial<Call> = {}) => callWith({ once: "- k", ...more });

  test("says nothing of the end before it is kept", async () => {
    const { run, calls, events } = heldRig(false);
    const running = run(named(), answer);
    calls.admitted[0]?.answer({ type: "open" });
    await flush();
    expect([events, calls.settled.length]).toEqual([[], 1]);
    calls.settled[0]?.answer();
    await running;
    expect(events).toEqual([end]);
  });

  test("tells the end also when it cannot be kept, and goes on trying to keep it", async () => {
    const { run, calls, events, time } = heldRig(false);
    const running = run(named(), answer);
    calls.admitted[0]?.answer({ type: "open" });
    await flush();
    calls.settled[0]?.answer(new GatewayError("STATE_UNAVAILABLE"));
    await running;
    expect(events).toEqual([end]);
    time.advance(250);
    expect(calls.settled.map(({ settlement }) => settlement.once?.answer)).toEqual([
      calls.settled[0]?.settlement.once?.answer,
      calls.settled[0]?.settlement.once?.answer,
    ]);
    calls.settled[1]?.answer();
    await flush();
    expect(time.pending).toBe(0);
  });

  test("that may have been admitted when the store failed is taken back, so that nobody waits for it", async () => {
    const { run, calls } = heldRig(false);
    const running = run(named(), answer);
    calls.admitted[0]?.answer(new GatewayError("STATE_UNAVAILABLE"));
    await expect(running).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
    expect(calls.settled.map(({ settlement }) => settlement.once)).toEqual([
      { key: '["local","files","- k"]', ttlMs: 86_400_000 },
    ]);
  });

  test("is settled as it was admitted when its process was taken for dead meanwhile: the store knows what others were told", async () => {
    let member = "m1";
    const calls = new HeldLedger();
    const { channel } = createMemorySharedState({ clock: new ManualTime() });
    const { run, events } = rig({ state: { calls, channel, isUp: true }, member: () => member });
    const running = run(named(), answer);
    member = "m2";
    calls.admitted[0]?.answer({ type: "open" });
    await flush();
    calls.settled[0]?.answer();
    await running;
    expect([events, calls.settled]).toMatchObject([[end], [{ settlement: { member: "m1" } }]]);
  });

  test("that asks first, waits for a yes behind us, or is broken off by the gateway, is kept for what it is", async () => {
    const question: CallEvent = { type: "end", outcome: "input", payload: payload("{}") };
    const page: CallEvent = { type: "end", outcome: "fault", payload: payload('{"code":-32042,"message":"visit"}') };
    const details = { reason: "the gateway is shutting down", by: "gateway" };
    const unsent: CallEvent = { type: "error", error: new GatewayError("CANCELLED", { details }) };
    const broken: CallEvent = { type: "error", error: new GatewayError("OUTCOME_UNKNOWN", { details }) };
    const cancelled: CallEvent = { type: "error", error: new GatewayError("CANCELLED") };
    const gate = '{"isError":true,"_meta":{"x-mcpax-gate":{"status":"confirmation_required"}}}';
    const waiting: CallEvent = { type: "end", outcome: "result", payload: payload(gate) };
    const { run, events, state } = rig({
      state: createMemorySharedState({ clock: new ManualTime() }),
      isQuestion: (fault) => fault.at(["code"]) === "-32042",
    });
    let made = 0;
    const ends = [question, page, cancelled, waiting, unsent, broken];
    const next: Next = async (_call, out) => void out.write(ends[made++] as CallEvent);
    for (let time = 0; time < 7; time++) await run(named(), next);
    expect(made).toBe(6);
    expect(events.slice(0, 6)).toEqual(ends);
    expect(events[6]).toMatchObject({ type: "error", error: { code: "OUTCOME_UNKNOWN" } });
    expect(await state.calls.openOf("s1")).toEqual([]);
  });

  test.each([
    '{"isError":true,"_meta":{"x-mcpax-gate":{"status":"confirmation_required","status":"b"}}}',
    '{"isError":true,"_meta":{"x-mcpax-gate":{},"x-mcpax-gat\\u0065":{}}}',
    '{"isError":true,"isErro\\u0072":false,"_meta":{"x-mcpax-gate":{"status":"confirmation_required"}}}',
  ])("is made once, although two readers could read its result differently: %s", async (result) => {
    const ended: CallEvent = { type: "end", outcome: "result", payload: payload(result) };
    const { run, events } = rig({ state: createMemorySharedState({ clock: new ManualTime() }) });
    let made = 0;
    const next: Next = async (_call, out) => {
      made++;
      out.write(ended);
    };
    for (let time = 0; time < 2; time++) await run(named(), next);
    expect(made).toBe(1);
    expect(events).toMatchObject([
      { type: "end", payload: { text: result } },
      { type: "end", payload: { text: result } },
    ]);
  });

  test("whose client goes away is of unknown end once it was sent; one that the client has cancelled is forgotten", async () => {
    const { run, events } = rig({ state: createMemorySharedState({ clock: new ManualTime() }) });
    let made = 0;
    const ask = (sentAt: number, details: object) =>
      run(named({ timing: { stages: [], entered: [], sentAt, firstAt: 0, repeats: 0 } }), async (_call, out) => {
        made++;
        out.write({ type: "error", error: new GatewayError("CANCELLED", { details: { ...details } }) });
      });
    await ask(0, {});
    await ask(7, { by: "client" });
    for (let time = 0; time < 3; time++) await ask(7, {});
    expect(made).toBe(3);
    expect(events.map((event) => event.type === "error" && event.error.code)).toEqual([
      ...Array(3).fill("CANCELLED"),
      ...Array(2).fill("OUTCOME_UNKNOWN"),
    ]);
  });

  test("that waits for another gives up at its deadline, and looks by itself when no word comes", async () => {
    const { run, calls, time } = heldRig(false);
    const home = { id: "m2", address: "" };
    const running = run(named({ deadline: time.now() + 900 }), answer);
    calls.admitted[0]?.answer({ type: "running", call: "c0", home });
    for (const looks of [2, 3]) {
      await flush();
      expect(calls.admitted).toHaveLength(looks);
      calls.admitted[looks - 1]?.answer({ type: "running", call: "c0", home });
      await flush();
      time.advance(500);
    }
    await flush();
    calls.admitted[3]?.answer({ type: "running", call: "c0", home });
    await expect(running).rejects.toMatchObject({ code: "DEADLINE_PASSED" });
    expect(time.pending).toBe(0);
  });
});
