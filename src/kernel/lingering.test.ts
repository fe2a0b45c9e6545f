import { describe, expect, test } from "vitest";
import { ScriptedProvider } from "../../tests/kit/scripted-provider.ts";
import { flush, testKernel } from "../../tests/kit/test-kernel.ts";
import { GatewayError, type Reader, type Run } from "../contract/index.ts";

function reader(): Reader {
  return { keeps: false, take: () => true };
}

describe("dispatch", () => {
  test.each([
    ["a cancel", (run: Run) => run.cancel()],
    ["a reader that goes away", (run: Run) => run.attach(reader(), -1).detach()],
    ["the gateway", (run: Run) => run.lose("moved")],
  ])("keeps the slot of a call that %s ends until its provider is through with it", async (_, leave) => {
    const provider = new ScriptedProvider("p", ["tool"]);
    const { kernel, order, probes } = await testKernel([provider], { concurrency: 2 });
    const start = () => kernel.runs.start(order("p.tool", { life: "bound" }), reader());
    const left = [start(), start()];
    await flush();
    for (const run of left) leave(run);
    const next = start();
    await flush();
    // For its caller, and for the stages, it is over.
    expect(left.map((run) => run.isEnded)).toEqual([true, true]);
    expect(left.map((run) => probes.get(run.id)?.isThrough)).toEqual([true, true]);
    expect(provider.calls.has(next.id)).toBe(false);
    provider.calls.get(left[0]?.id ?? "")?.settle();
    await flush();
    expect(provider.calls.has(next.id)).toBe(true);
  });

  test("keeps the slot of a call whose time is over until its provider is through with it", async () => {
    const provider = new ScriptedProvider("p", ["tool"]);
    const { kernel, order, time } = await testKernel([provider], { concurrency: 1 });
    const late = kernel.runs.start(order("p.tool", { timeoutMs: 1_000 }), reader());
    const next = kernel.runs.start(order("p.tool"), reader());
    await flush();
    time.advance(1_000);
    await flush();
    expect(late.isEnded).toBe(true);
    expect(provider.calls.has(next.id)).toBe(false);
    provider.calls.get(late.id)?.crash(new GatewayError("CANCELLED"));
    await flush();
    expect(provider.calls.has(next.id)).toBe(true);
  });

  describe("at a provider that ignores a cancel", () => {
    const HOLD_MS = 5_000;
    const LIMIT = 2;
    async function ignored() {
      const provider = new ScriptedProvider("p", ["tool"]);
      const { kernel, order, time } = await testKernel([provider], { concurrency: LIMIT, timeoutMs: 60_000 });
      const start = (id: string) => kernel.runs.start({ ...order("p.tool"), principal: { id } }, reader());
      const cancelled = [start("mallory"), start("mallory")];
      await flush();
      for (const run of cancelled) run.cancel();
      const isSent = (run: Run) => provider.calls.has(run.id);
      const later = async (ms: number) => {
        time.advance(ms);
        await flush();
      };
      return { provider, start, cancelled, isSent, later };
    }

    test("its caller gets no further slot before the cancelled calls' own time is over", async () => {
      const { start, isSent, later } = await ignored();
      await later(HOLD_MS * 2);
      const next = start("mallory");
      await later(60_000 - HOLD_MS * 2 - 1);
      expect(isSent(next)).toBe(false);
      await later(1);
      expect(isSent(next)).toBe(true);
    });

    test("its caller gets a slot as soon as the provider is through with one, however late", async () => {
      const { provider, start, cancelled, isSent, later } = await ignored();
      const next = start("mallory");
      await later(HOLD_MS * 4);
      provider.calls.get(cancelled[0]?.id ?? "")?.settle();
      await flush();
      expect(isSent(next)).toBe(true);
    });

    test("others get its slots after five seconds", async () => {
      const { start, isSent, later } = await ignored();
      const others = [start("ann"), start("bob")];
      await later(HOLD_MS - 1);
      expect(others.map(isSent)).toEqual([false, false]);
      await later(1);
      expect(others.map(isSent)).toEqual([true, true]);
    });

    test("the provider is told for how long that counts, of which waiting in line is a part", async () => {
      const { provider, start, later } = await ignored();
      const asked = start("ann");
      await later(HOLD_MS);
      await later(10_000);
      asked.cancel();
      expect(provider.calls.get(asked.id)?.replies.at(-1)).toMatchObject({ type: "cancel", holdMs: 45_000 });
    });
  });
});
