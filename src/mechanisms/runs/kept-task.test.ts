import { describe, expect, test } from "vitest";
import { ScriptedProvider } from "../../../tests/kit/scripted-provider.ts";
import { flush, testKernel } from "../../../tests/kit/test-kernel.ts";
import { type Ask, type CallEvent, payload, type Reader, type Run } from "../../contract/index.ts";
import type { KeptTask } from "./kept-task.ts";
import { KeptTasks } from "./kept-tasks.ts";

const KEEP: CallEvent = { type: "status", state: "working", keepMs: 60_000 };
const ask: Ask = { key: "a", kind: "elicit", method: "elicitation/create", input: payload("{}") };
const end: CallEvent = { type: "end", outcome: "result", payload: payload('{"x":1}') };
const TERMS = {
  mayAsk: () => true,
  refusal: ({ key }: Ask) => ({ key, outcome: "fault", payload: payload("{}") }) as const,
};

/** A call that a reader hands over as soon as its provider says that it goes on as a task. */
async function handedOver() {
  const provider = new ScriptedProvider("p", ["tool"]);
  const kit = await testKernel([provider], { timeoutMs: 1000 });
  const tasks = new KeptTasks({ clock: kit.time, timers: kit.time, meter: kit.meter });
  let task: KeptTask | undefined;
  let run: Run | undefined;
  const reader: Reader = {
    keeps: false,
    take(event, cursor) {
      if (event.type === "status" && run) task = tasks.keep(run, { cursor, asks: [] }, { ...TERMS, ttlMs: 60_000 });
      return true;
    },
  };
  run = kit.kernel.runs.start({ ...kit.order("p.tool"), life: "bound", mayDefer: true }, reader);
  const attachment = run.attach(reader, -1);
  await flush();
  const scripted = provider.calls.get(run.id);
  scripted?.write(KEEP);
  attachment.detach();
  if (!task || !scripted) throw new Error("nothing was handed over");
  return { ...kit, tasks, task, run, scripted };
}

describe("a task of a real run", () => {
  test("goes on when its former reader leaves, beyond the time that the call had, and has its end", async () => {
    const { task, run, scripted, time, kernel } = await handedOver();
    time.advance(30_000);
    expect([run.isEnded, task.status]).toEqual([false, "working"]);
    scripted.write({ type: "ask", asks: [ask] });
    expect(task.status).toBe("input_required");
    task.answer([{ key: "a", outcome: "result", payload: payload("{}") }]);
    expect(scripted.replies).toMatchObject([{ type: "answer", answers: [{ key: "a" }] }]);
    scripted.write(end);
    expect([task.status, task.end]).toMatchObject(["completed", { payload: { text: '{"x":1}' } }]);
    expect(kernel.stats()).toMatchObject({ open: 0, kept: 0 });
  });

  test("cancels its call when it is cancelled, and when its time is over", async () => {
    const first = await handedOver();
    first.task.cancel("enough");
    expect([first.run.isEnded, first.scripted.replies]).toMatchObject([true, [{ type: "cancel" }]]);
    const second = await handedOver();
    second.time.advance(60_001);
    expect([second.run.isEnded, second.task.status, second.tasks.size]).toEqual([true, "cancelled", 0]);
    expect(second.kernel.stats()).toMatchObject({ open: 0, kept: 0 });
  });

  test("is over with the gateway, and nobody knows what it has done", async () => {
    const { task, kernel, tasks } = await handedOver();
    await kernel.close();
    expect(task).toMatchObject({ status: "failed", end: { type: "error", error: { code: "OUTCOME_UNKNOWN" } } });
    tasks.close();
  });
});
