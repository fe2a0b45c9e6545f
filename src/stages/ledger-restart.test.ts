import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { FakeRun } from "../../tests/kit/fake-runs.ts";
import { ManualTime } from "../../tests/kit/manual-time.ts";
import { KeptMeter } from "../../tests/kit/quiet.ts";
import { type Call, type CallEvent, type Next, type Out, payload } from "../contract/index.ts";
import { KeptTasks, lostCalls } from "../mechanisms/runs/index.ts";
import { createMemorySharedState } from "../stores/memory/index.ts";
import { openSqlite } from "../stores/sqlite/connection.ts";
import { openSqliteRecords } from "../stores/sqlite/records.ts";
import { createSqliteSharedState } from "../stores/sqlite/shared-state.ts";
import { ledgerStage } from "./ledger-stage.ts";

const ME = { id: "local" };
const ALL = { limit: 100, isWanted: () => true };
const end: CallEvent = { type: "end", outcome: "result", payload: payload('{"x":"\u00c3\u00bc"}') };
const folders: string[] = [];

afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

/** A gateway that runs alone, as often as it is started over the same file. */
async function installation() {
  const folder = await mkdtemp(join(tmpdir(), "isthmus-ledger-"));
  folders.push(folder);
  let starts = 0;
  return async () => {
    const id = `m${++starts}`;
    const time = new ManualTime();
    const connection = await openSqlite(join(folder, "state.db"));
    const state = createSqliteSharedState({
      connection,
      clock: time,
      fleeting: createMemorySharedState({ clock: time }),
    });
    await state.members.join({ id, address: "" }, 60_000);
    const records = await openSqliteRecords({ connection });
    const [member, ports] = [() => id, { clock: time, timers: time }];
    const stage = ledgerStage({ ...ports, state, member, isShared: false });
    const tasks = new KeptTasks({
      ...ports,
      meter: new KeptMeter(),
      store: { records, members: state.members, member },
    });
    const heard: CallEvent[] = [];
    const out: Out = { write: (event) => heard.push(event) > 0, ready: () => Promise.resolve() };
    const run = (call: Call, next: Next) => stage(call, out, next);
    return { state, tasks, heard, run, stop: () => connection.close() };
  };
}

function callOf(id: string, more: Partial<Call>): Call {
  const capabilities = payload("{}");
  return {
    id,
    target: { provider: "p", kind: "tool", name: "t" },
    verb: "call",
    method: "tools/call",
    input: payload('{"name":"t"}'),
    principal: ME,
    session: {
      id: "s1",
      principal: ME,
      catalog: "",
      protocol: "",
      capabilities,
      clientInfo: capabilities,
      canBeAsked: false,
      isEphemeral: false,
    },
    origin: { front: "mcp", protocol: "", requestId: "5" },
    deadline: 60_000,
    life: "resumable",
    signal: new AbortController().signal,
    ...more,
  };
}

describe("after a restart over the same file", () => {
  test("a named call has the answer that it had, or nobody knows; it is never made again", async () => {
    const start = await installation();
    const first = await start();
    let made = 0;
    const answer: Next = async (_call, out) => {
      made++;
      out.write(end);
    };
    await first.run(callOf("c1", { once: "done" }), answer);
    const begun = new Promise<void>((resolve) => {
      const hang: Next = () => {
        made++;
        resolve();
        return new Promise(() => undefined);
      };
      void first.run(callOf("c2", { once: "begun" }), hang);
    });
    await begun;
    first.stop();
    const second = await start();
    await second.run(callOf("c3", { once: "done" }), answer);
    expect(second.heard).toMatchObject([{ type: "end", outcome: "result", payload: { text: '{"x":"\u00c3\u00bc"}' } }]);
    for (const id of ["c4", "c5"]) {
      const repeat = second.run(callOf(id, { once: "begun" }), answer);
      await expect(repeat).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
    }
    expect(made).toBe(2);
    expect(await lostCalls(second.state.calls, "s1")).toMatchObject([
      { call: "c2", requestId: "5", method: "tools/call" },
    ]);
    second.stop();
  });

  test("a task is over as it was over, and one that ran has failed", async () => {
    const start = await installation();
    const first = await start();
    const terms = {
      mayAsk: () => true,
      refusal: () => ({ key: "", outcome: "fault", payload: payload("{}") }) as const,
    };
    const keep = async () => {
      const { target, ...call } = callOf("", {});
      const primitive = { kind: "tool", name: "t", definition: payload("{}"), repeatable: false } as const;
      const { session, ...order } = call;
      const run = new FakeRun({ ...order, ...(session && { session }), entry: { name: "t", target, primitive } });
      const task = first.tasks.keep(run, { cursor: -1, asks: [] }, terms);
      await task?.stored;
      return { run, task, id: run.id };
    };
    const [over, running] = [await keep(), await keep()];
    over.run.write(end);
    await over.task?.ending;
    first.stop();
    const second = await start();
    expect(await second.tasks.seek(over.id, ME)).toMatchObject({
      type: "over",
      task: { status: "completed", end: { payload: { text: '{"x":"\u00c3\u00bc"}' } } },
    });
    expect(await second.tasks.seek(running.id, ME)).toMatchObject({
      type: "over",
      task: { status: "failed", end: { error: { code: "OUTCOME_UNKNOWN" } } },
    });
    expect((await second.tasks.list(ME, ALL)).map(({ status }) => status).sort()).toEqual(["completed", "failed"]);
    second.stop();
  });
});
