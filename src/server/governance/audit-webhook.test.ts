import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { KeptLog, KeptMeter } from "../../../tests/kit/quiet.ts";
import type { AuditBlock, Records } from "../../contract/index.ts";
import { openSqlite, type SqliteConnection } from "../../stores/sqlite/connection.ts";
import { openSqliteRecords } from "../../stores/sqlite/records.ts";
import { AuditWebhook } from "./audit-webhook.ts";

const HOUR_MS = 3_600_000;
const WEEK_MS = 7 * 24 * HOUR_MS;
const BLOCK = { writer: "w", number: 1, hash: "h", lines: "" } as AuditBlock;

let folder: string;
let connection: SqliteConnection;
let records: Records;
let time: ManualTime;
let meter: KeptMeter;
let webhook: AuditWebhook;
let isAway: boolean;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "isthmus-webhook-"));
  connection = await openSqlite(join(folder, "isthmus.db"));
  records = await openSqliteRecords({ connection });
  [time, meter, isAway] = [new ManualTime(), new KeptMeter(), true];
  vi.stubGlobal("fetch", async () => new Response("", { status: isAway ? 503 : 200 }));
  // Waits are a tenth of the longest that they can be.
  vi.spyOn(Math, "random").mockReturnValue(0.1);
  const ports = { clock: time, timers: time, log: new KeptLog(), meter };
  webhook = new AuditWebhook({ ...ports, url: "https://siem.example/in", headers: {}, records });
  await records.write(webhook.beside(BLOCK));
  webhook.open();
});

afterEach(async () => {
  await webhook.close();
  connection.close();
  rmSync(folder, { recursive: true, force: true });
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const outcomes = (outcome: string) => meter.of(`isthmus_deliveries_total ${outcome}`);

/** Each try comes to its end before the time goes on. */
async function pass(ms: number, stepMs = 60_000): Promise<void> {
  for (let passed = 0; passed < ms; passed += stepMs) {
    time.advance(stepMs);
    for (let turn = 0; turn < 4; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      await records.deliveries.count();
    }
  }
}

describe("the webhook of the audit trail", () => {
  test("sends a block to a receiver that was away for an hour", async () => {
    await pass(HOUR_MS);
    expect(outcomes("retried")).toBeGreaterThan(12);
    expect([outcomes("failed"), outcomes("sent")]).toEqual([0, 0]);
    isAway = false;
    await pass(10 * 60_000);
    expect(outcomes("sent")).toBe(1);
    expect(await records.deliveries.count()).toBe(0);
  });

  test("gives a block up after a week", async () => {
    await pass(WEEK_MS + HOUR_MS, HOUR_MS);
    expect([outcomes("failed"), outcomes("expired")]).toEqual([0, 1]);
  });
});
