import { describe, expect, test } from "vitest";
import { ScriptedProvider } from "../../tests/kit/scripted-provider.ts";
import { flush, testKernel } from "../../tests/kit/test-kernel.ts";
import { type CallEvent, type ErrorCode, GatewayError, payload } from "../contract/index.ts";

const end: CallEvent = { type: "end", outcome: "result", payload: payload("{}") };

async function rig(options: Parameters<typeof testKernel>[1] & { isEnabled?: boolean } = {}) {
  const provider = new ScriptedProvider("p", ["tool"]);
  const kit = await testKernel([provider], options);
  if (options.isEnabled === false) {
    const off = { segment: "p", concurrency: 16, timeoutMs: 60_000, breaker: false };
    kit.kernel.rearrange([{ id: "p", options: off }], 0);
  }
  async function start() {
    const events: CallEvent[] = [];
    const run = kit.kernel.runs.start(kit.order("p.tool"), { keeps: false, take: (event) => events.push(event) > 0 });
    await flush();
    const errorOf = () => events.flatMap((event) => (event.type === "error" ? [event.error] : [])).at(0);
    return { run, events, errorOf, scripted: provider.calls.get(run.id) };
  }
  async function fail(code: ErrorCode) {
    const call = await start();
    call.scripted?.crash(new GatewayError(code));
    await flush();
    return call;
  }
  async function failTimes(count: number, code: ErrorCode = "PROVIDER_UNREACHABLE") {
    for (let n = 0; n < count; n++) await fail(code);
  }
  return { ...kit, provider, start, fail, failTimes };
}

describe("the breaker of a provider", () => {
  test.each(["PROVIDER_UNREACHABLE", "OUTCOME_UNKNOWN"] as const)(
    "keeps calls away after five in a row that ended as %s, and says when to come back",
    async (code) => {
      const { start, failTimes, meter, log } = await rig();
      await failTimes(5, code);
      const { scripted, errorOf } = await start();
      expect(scripted).toBeUndefined();
      expect(errorOf()).toMatchObject({ code: "PROVIDER_UNREACHABLE" });
      expect(errorOf()?.message).toMatch(/^The server failed 5 calls in a row; it is tried again in [12] s\.$/);
      expect(errorOf()?.details.retryAfterMs).toBeGreaterThanOrEqual(750);
      expect(meter.of("isthmus_breaker_opens_total p")).toBe(1);
      expect(log.lines).toContainEqual(
        expect.objectContaining({ level: "warn", fields: expect.objectContaining({ failures: 5 }) }),
      );
    },
  );

  test("needs ten calls that took too long", async () => {
    const { start, time } = await rig();
    for (let n = 0; n < 10; n++) {
      const { scripted, errorOf } = await start();
      expect(scripted, `call ${n}`).toBeDefined();
      time.advance(60_000);
      expect(errorOf()?.code).toBe("DEADLINE_PASSED");
    }
    expect((await start()).errorOf()?.code).toBe("PROVIDER_UNREACHABLE");
  });

  test("does not count questions that no client answered", async () => {
    const { start, time } = await rig({ inputMs: 1000 });
    const calls = await Promise.all(Array.from({ length: 12 }, start));
    const ask = { key: "a", kind: "elicit", method: "elicitation/create", input: payload("{}") } as const;
    for (const { scripted } of calls) scripted?.write({ type: "ask", asks: [ask] });
    // Not so far that an open breaker would let a probe through.
    time.advance(2100);
    expect(calls.map(({ errorOf }) => errorOf()?.code)).toEqual(calls.map(() => "DEADLINE_PASSED"));
    expect((await start()).scripted).toBeDefined();
  });

  test("counts only what comes in a row", async () => {
    const { start, failTimes } = await rig();
    await failTimes(4);
    const { scripted } = await start();
    scripted?.write({ type: "end", outcome: "fault", payload: payload('{"code":1,"message":"the tool says no"}') });
    await failTimes(4);
    expect((await start()).scripted).toBeDefined();
  });

  test.each(["PROVIDER_FAILED", "INTERNAL", "OVERLOADED", "CONFLICT"] as const)(
    "does not count %s of a provider that is well",
    async (code) => {
      const { start, failTimes } = await rig();
      await failTimes(20, code);
      expect((await start()).scripted).toBeDefined();
    },
  );

  test("counts answers that cannot be used once the provider is known to be down", async () => {
    const { start, failTimes, provider } = await rig();
    provider.host?.state({ status: "unreachable", message: "it ended" });
    await failTimes(5, "PROVIDER_FAILED");
    expect((await start()).scripted).toBeUndefined();
  });

  test("does not count calls that their callers gave up", async () => {
    const { start } = await rig({ concurrency: 32 });
    for (let n = 0; n < 20; n++) (await start()).run.cancel();
    expect((await start()).scripted).toBeDefined();
  });

  test("lets one call through after the pause, and everybody once that is answered", async () => {
    const { start, failTimes, time } = await rig();
    await failTimes(5);
    time.advance(1_250);
    const probe = await start();
    expect(probe.scripted).toBeDefined();
    expect((await start()).scripted).toBeUndefined();
    probe.scripted?.write(end);
    expect((await start()).scripted).toBeDefined();
    expect((await start()).scripted).toBeDefined();
  });

  test("waits longer each time the probe fails, at most half a minute and a quarter", async () => {
    const { start, fail, failTimes, time } = await rig();
    await failTimes(5);
    let least = 750;
    for (let n = 0; n < 8; n++) {
      time.advance(least - 1);
      expect((await start()).scripted, `before pause ${n} is over`).toBeUndefined();
      time.advance(Math.ceil(least * (5 / 3)) - least + 1);
      expect((await fail("PROVIDER_UNREACHABLE")).scripted, `after pause ${n}`).toBeDefined();
      least = Math.min(least * 2, 22_500);
    }
  });

  test("makes the next call the probe when a probe is given up by its caller", async () => {
    const { start, failTimes, time } = await rig();
    await failTimes(5);
    time.advance(1_250);
    (await start()).run.cancel();
    await flush();
    expect((await start()).scripted).toBeDefined();
  });

  test("makes the next call the probe when a probe is given up while it waits for a slot", async () => {
    const { start, time, provider } = await rig({ concurrency: 10 });
    for (let n = 0; n < 10; n++) await start();
    time.advance(60_000);
    // Those that took too long hold their slots a little longer than the pause.
    time.advance(1_250);
    const probe = await start();
    expect((await start()).errorOf()?.message).toContain("10 calls in a row");
    probe.run.cancel();
    await flush();
    const next = await start();
    expect(next.errorOf()).toBeUndefined();
    time.advance(5_000);
    await flush();
    expect(provider.calls.has(next.run.id)).toBe(true);
  });

  test("tries at once when the provider says that it is well again", async () => {
    const { start, failTimes, provider } = await rig();
    await failTimes(5);
    provider.host?.state({ status: "unreachable" });
    expect((await start()).scripted).toBeUndefined();
    provider.host?.state({ status: "ok" });
    expect((await start()).scripted).toBeDefined();
  });

  test("fails those that wait in line when those before them were lost", async () => {
    const { start, provider } = await rig({ concurrency: 2 });
    const calls = await Promise.all(Array.from({ length: 8 }, start));
    for (const { run } of calls.slice(0, 5)) {
      provider.calls.get(run.id)?.crash(new GatewayError("PROVIDER_UNREACHABLE"));
      await flush();
    }
    // The sixth had a slot beside the fifth.
    expect(provider.calls.size).toBe(6);
    for (const call of calls.slice(6)) expect(call.errorOf()?.message).toContain("5 calls in a row");
  });

  test("can be switched off", async () => {
    const { start, failTimes } = await rig({ isEnabled: false });
    await failTimes(20);
    expect((await start()).scripted).toBeDefined();
  });

  test("of one provider leaves others alone", async () => {
    const bad = new ScriptedProvider("bad", ["tool"]);
    const good = new ScriptedProvider("good", ["tool"]);
    const { kernel, order } = await testKernel([bad, good]);
    const reader = { keeps: false, take: () => true };
    for (let n = 0; n < 8; n++) {
      const run = kernel.runs.start(order("bad.tool"), reader);
      await flush();
      bad.calls.get(run.id)?.crash(new GatewayError("PROVIDER_UNREACHABLE"));
      await flush();
    }
    expect(bad.calls.size).toBe(5);
    const run = kernel.runs.start(order("good.tool"), reader);
    await flush();
    expect(good.calls.has(run.id)).toBe(true);
  });
});
