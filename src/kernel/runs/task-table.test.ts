import { describe, expect, test } from "vitest";
import { FakeTaskRows } from "../../../tests/kit/fake-task-rows.ts";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { ScriptedProvider } from "../../../tests/kit/scripted-provider.ts";
import { flush, testKernel } from "../../../tests/kit/test-kernel.ts";
import { type CallEvent, payload, type TaskRecord } from "../../contract/index.ts";
import { TaskTable } from "./task-table.ts";

const TASK: Omit<TaskRecord, "expiresAt"> = {
  id: "t-1",
  principal: { id: "me" },
  target: { provider: "p", kind: "tool", name: "t" },
  handle: "upstream-1",
  args: '{"path":"/\xc3\xa4"}',
};
const END: CallEvent = {
  type: "end",
  outcome: "task",
  payload: payload('{"task":{}}'),
  ttlMs: 60_000,
  handle: "upstream-1",
};

function durable(rows: FakeTaskRows, member: string) {
  return { records: { tasks: rows }, member: () => member };
}

describe("tasks of providers", () => {
  test("are found by a process that starts later, with the provider's own name for them and their arguments", async () => {
    const [rows, time] = [new FakeTaskRows(), new ManualTime()];
    await new TaskTable(time, durable(rows, "one")).add({ ...TASK, expiresAt: time.now() + 60_000 });
    const later = new TaskTable(time, durable(rows, "two"));
    const found = await later.get("t-1");
    expect(found).toMatchObject(TASK);
    expect(Math.abs((found?.expiresAt ?? 0) - time.now() - 60_000)).toBeLessThan(1000);
    expect((await later.of({ id: "me" })).map(({ id }) => id)).toEqual(["t-1"]);
    expect(await later.of({ id: "other" })).toEqual([]);
    time.advance(62_000);
    expect(await later.get("t-1")).toBeUndefined();
  });

  test("are told of only when they are stored", async () => {
    const provider = new ScriptedProvider("p", ["tool"]);
    const rows = new FakeTaskRows();
    const kit = await testKernel([provider], { durable: durable(rows, "one") });
    const heard: CallEvent[] = [];
    const run = kit.kernel.runs.start(kit.order("p.tool"), { keeps: false, take: (event) => heard.push(event) > 0 });
    await flush();
    const scripted = provider.calls.get(run.id);
    scripted?.write(END);
    scripted?.settle();
    expect(heard).toEqual([]);
    await flush();
    expect(heard).toEqual([END]);
    expect(rows.rows.get(run.id)).toMatchObject({ principal: "local", member: "one", isOver: false });
    expect(await kit.kernel.runs.task(run.id)).toMatchObject({ handle: "upstream-1" });
    expect(kit.kernel.stats()).toMatchObject({ open: 0, tasks: 1 });
  });

  test("are refused when they cannot be stored", async () => {
    const provider = new ScriptedProvider("p", ["tool"]);
    const rows = new FakeTaskRows();
    rows.refuses.add("put");
    const kit = await testKernel([provider], { durable: durable(rows, "one") });
    const heard: CallEvent[] = [];
    const run = kit.kernel.runs.start(kit.order("p.tool"), { keeps: false, take: (event) => heard.push(event) > 0 });
    await flush();
    provider.calls.get(run.id)?.write(END);
    provider.calls.get(run.id)?.settle();
    await flush();
    expect(heard).toMatchObject([{ type: "error", error: { code: "STATE_UNAVAILABLE" } }]);
    expect(kit.kernel.stats()).toMatchObject({ open: 0, tasks: 0 });
  });

  test.each(["here", "in rows"])(
    "are kept up to a bound for each caller %s, and those of others stay",
    async (where) => {
      const [rows, time] = [new FakeTaskRows(), new ManualTime()];
      const table = new TaskTable(time, where === "here" ? undefined : durable(rows, "one"));
      const add = (id: string, principal: string) =>
        table.add({ ...TASK, id, principal: { id: principal }, expiresAt: time.now() + 60_000 });
      await add("other", "bob");
      for (let number = 0; number < 1200; number++) await add(`t${number}`, "me");
      await flush();
      expect((await table.of({ id: "me" })).length).toBeLessThanOrEqual(1000);
      expect(table.size).toBeLessThanOrEqual(1001);
      expect(rows.rows.size).toBeLessThanOrEqual(1100);
      expect((await table.get("t1199"))?.id).toBe("t1199");
      expect([await table.get("t0"), (await table.get("other"))?.id]).toEqual([undefined, "other"]);
    },
  );
});
