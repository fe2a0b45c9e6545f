import { describe, expect, test } from "vitest";
import { ScriptedProvider } from "../../tests/kit/scripted-provider.ts";
import { flush, testKernel } from "../../tests/kit/test-kernel.ts";
import { ByteBudget, type CallEvent, HeldMessage, payload, type Reader, type Run } from "../contract/index.ts";

const KIB = 1024;
const LONG = payload(JSON.stringify({ x: "x".repeat(100 * KIB) }));
const END: CallEvent = { type: "end", outcome: "result", payload: payload("{}") };

async function rig(bytes = 10_000 * KIB) {
  const budget = new ByteBudget(bytes);
  const provider = new ScriptedProvider("p", ["tool"]);
  const { kernel, order, time } = await testKernel([provider], { budget, concurrency: 2 });
  const heard: CallEvent[] = [];
  const reader: Reader = { keeps: false, take: (event) => heard.push(event) > 0 };
  const start = (more = {}, by = reader) => kernel.runs.start({ ...order("p.tool", { life: "bound" }), ...more }, by);
  const callOf = (run: Run) => provider.calls.get(run.id) ?? expect.fail("the call was not sent");
  return { budget, provider, start, callOf, heard, time, kernel };
}

describe("the inputs of calls", () => {
  const ends: [string, (kit: Awaited<ReturnType<typeof rig>>, run: Run) => void][] = [
    ["answered", ({ callOf }, run) => callOf(run).write(END)],
    ["settled without an answer", ({ callOf }, run) => callOf(run).settle()],
    ["lost by their provider", ({ callOf }, run) => callOf(run).crash(new Error("gone"))],
    [
      "cancelled",
      ({ callOf }, run) => {
        run.cancel();
        callOf(run).settle();
      },
    ],
    ["cancelled, and kept by a provider that does not let go", (_, run) => run.cancel()],
    ["late", ({ time }) => time.advance(60_000)],
    ["left by their caller", (_, run) => run.attach({ keeps: false, take: () => true }, -1).detach()],
  ];

  test.each(ends)("count until their calls are %s", async (_, end) => {
    const kit = await rig();
    const runs = [kit.start(), kit.start({ input: LONG })];
    await flush();
    expect(kit.budget.held).toBeGreaterThan(LONG.text.length);
    for (const run of runs) end(kit, run);
    await flush();
    kit.time.advance(120_000);
    await flush();
    expect(kit.budget.held).toBe(0);
  });

  test("count once where the message is held that they came in", async () => {
    const { budget, start, callOf } = await rig();
    const held = new HeldMessage(budget, { name: "a" }, 500 * KIB).hold();
    const run = start({ input: LONG, held });
    await flush();
    expect(budget.held).toBe(500 * KIB);
    held.letGo();
    expect(budget.held).toBe(500 * KIB);
    callOf(run).write(END);
    await flush();
    expect(budget.held).toBe(0);
  });

  test("count while their calls wait in line", async () => {
    const { budget, start } = await rig();
    const runs = Array.from({ length: 4 }, () => start({ input: LONG }));
    await flush();
    expect(budget.held).toBe(4 * LONG.text.length);
    runs[3]?.cancel();
    await flush();
    expect(budget.held).toBe(3 * LONG.text.length);
  });

  test("are not sent when no more messages fit", async () => {
    const { budget, start, provider, heard } = await rig();
    budget.count(budget.bytes);
    const run = start();
    await flush();
    expect(heard).toMatchObject([{ type: "error", error: { code: "OVERLOADED" } }]);
    expect(provider.calls.has(run.id)).toBe(false);
    expect(budget.held).toBe(budget.bytes);
  });
});

test("what a reader has not taken yet counts until it has, or until the call is forgotten", async () => {
  const { budget, start, callOf, kernel } = await rig();
  const stuck: Reader = { keeps: false, take: () => false };
  const run = start({ life: "resumable" }, stuck);
  await flush();
  const before = budget.held;
  callOf(run).write({ type: "progress", payload: payload("{}") });
  callOf(run).write({ type: "end", outcome: "result", payload: LONG });
  await flush();
  expect(budget.held).toBeGreaterThan(before + LONG.text.length);
  run.attach({ keeps: false, take: () => true }, -1);
  await flush();
  expect(budget.held).toBe(0);
  expect(kernel.openRuns()).toEqual([]);
});
