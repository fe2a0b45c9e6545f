/** Whatever moment the gateway dies in: what its callers were told of is on the trail, once. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findEvents } from "../../../src/mechanisms/audit/find-events.ts";
import { indexRuns } from "../../../src/mechanisms/audit/index-runs.ts";
import { openSqlite } from "../../../src/stores/sqlite/connection.ts";
import { openSqliteRecords } from "../../../src/stores/sqlite/records.ts";
import { AuditRig } from "./audit-rig.ts";

/** How much is written together hangs on the machine: it is called until it dies. */
const MAX_CALLS = 500;

/** The moment, and how often it has passed before: the first block is of the start. */
const MOMENTS: readonly (readonly [string, number])[] = [
  ["audit.block.writing", 2],
  ["audit.block.written", 2],
  ["audit.block.writing", 4],
  ["audit.block.written", 4],
  ["sqlite.group.writing", 12],
];

/** The traces of the calls that were answered. */
async function callUntilDead(rig: AuditRig): Promise<string[]> {
  let isDead = false;
  const exited = rig.gateway.program.exited.finally(() => {
    isDead = true;
  });
  const answered: string[] = [];
  for (let index = 1; index <= MAX_CALLS && !isDead; index++) {
    const trace = `aaaaaaaa-0000-4000-8000-${String(index).padStart(12, "0")}`;
    const answer = await rig.call("echo.who", {}, { trace_id: trace }).catch(() => undefined);
    if (answer?.result) answered.push(trace);
  }
  expect(await exited).toBeNull();
  return answered;
}

describe("a gateway that is killed", () => {
  test.each(MOMENTS)("at %s, the time number %i, loses no event that its caller knows of", async (point, times) => {
    await using rig = new AuditRig();
    await rig.start({ ISTHMUS_FAULT_POINT: `${point}#${times}` });
    const answered = await callUntilDead(rig);
    await rig.start();
    const kept = (await rig.events("event_type=TOOL_EXECUTED&limit=1000")).map((event) => event.trace_id);
    expect(new Set(kept).size).toBe(kept.length);
    expect(kept).toEqual(expect.arrayContaining(answered));
    expect(await rig.verbAt("verify")).toMatchObject({ code: 0 });
  });

  test.each(["audit.spool.read", "audit.block.writing"])(
    "while it reads back what another left, at %s, loses nothing",
    async (point) => {
      await using rig = new AuditRig();
      await rig.start({ ISTHMUS_FAULT_POINT: "audit.block.writing#2" });
      const answered = await callUntilDead(rig);
      // It dies before it is ready, or with its own first block.
      const second = await rig.start({ ISTHMUS_FAULT_POINT: point }).catch(() => undefined);
      await second?.program.exited;
      await rig.start();
      const kept = (await rig.events("event_type=TOOL_EXECUTED&limit=1000")).map((event) => event.trace_id);
      expect(new Set(kept).size).toBe(kept.length);
      expect(kept).toEqual(expect.arrayContaining(answered));
      expect(await rig.verbAt("verify")).toMatchObject({ code: 0 });
    },
  );

  test.each(["audit.checkpoint.writing", "audit.checkpoint.written"])(
    "at its end, at %s, leaves a trail that is whole",
    async (point) => {
      await using rig = new AuditRig();
      await rig.start({ ISTHMUS_FAULT_POINT: point });
      expect((await rig.call("echo.who"))?.result).toBeDefined();
      expect(await rig.gateway.stop()).toBeNull();
      await rig.start();
      expect(await rig.events("event_type=TOOL_EXECUTED")).toHaveLength(1);
      expect(await rig.verbAt("verify")).toMatchObject({ code: 0 });
    },
  );
});

describe("a process that is killed while it makes the index", () => {
  // Thousands of events make a run, so this is driven on the store itself.
  test.each(["audit.index.writing", "audit.index.written"])("at %s leaves every event to be found", async (point) => {
    await using rig = new AuditRig();
    const file = join(rig.folder, "index.db");
    const child = spawn(process.execPath, [join(import.meta.dirname, "index-process.ts"), file, point], {
      stdio: "inherit",
    });
    const [code, signal] = await once(child, "exit");
    expect([code, signal]).toEqual([null, "SIGKILL"]);
    const connection = await openSqlite(file);
    try {
      const records = await openSqliteRecords({ connection });
      const found = async () => (await findEvents(records.audit, { actor: "last" }, { limit: 10 })).events.length;
      expect(await found()).toBe(1);
      await indexRuns(records, Number.MAX_SAFE_INTEGER);
      expect(await found()).toBe(1);
      expect(await records.audit.lastRun()).toMatchObject({ number: 1 });
    } finally {
      connection.close();
    }
  });
});
