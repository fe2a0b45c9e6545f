import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, test, vi } from "vitest";
import { AuditRig } from "./audit-rig.ts";

/** More than the time between two checkpoints. */
const PATIENT = { timeout: 25_000, interval: 250 };

test("what is older than `keep` is removed, and verify proves the rest", async () => {
  await using rig = new AuditRig('[audit]\nkeep = "1s"\n');
  await rig.start();
  await rig.call("echo.who");
  await vi.waitFor(async () => expect(await rig.events()).toHaveLength(2));
  await vi.waitFor(async () => expect(await rig.events()).toEqual([]), PATIENT);
  for (let index = 1; index <= 2; index++) {
    await rig.call("echo.who");
    await vi.waitFor(async () => expect(await rig.events()).toHaveLength(index));
  }
  await rig.gateway.stop();
  const { code, stdout } = await rig.verb("verify");
  expect({ code, stdout }).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^intact: 2 events [\s\S]*removed because it was old: \d+ blocks, up to \S+Z\n/),
  });
  const database = new Sqlite(join(rig.folder, "state/isthmus.db"));
  database.exec("delete from audit_blocks where number = (select min(number) from audit_blocks)");
  database.close();
  expect(await rig.verb("verify")).toMatchObject({
    code: 11,
    stdout: expect.stringMatching(/block \d+ of chain \S+ is missing/),
  });
}, 60_000);
