import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { KeptLog, KeptMeter } from "../../../tests/kit/quiet.ts";
import { loadConfig } from "../config/load-config.ts";
import { readConfig } from "../config/read-config.ts";
import { createAudit } from "./audit.ts";

test.each([
  ["", []],
  ["[audit]", [{}]],
  ['[audit.webhook]\nurl = "http://127.0.0.1:9/"', [{ webhook: "off" }]],
])("a process without state says what becomes of the events of %j", async (text, told) => {
  const folder = mkdtempSync(join(tmpdir(), "isthmus-audit-"));
  const file = join(folder, "isthmus.toml");
  writeFileSync(file, text);
  const time = new ManualTime();
  const log = new KeptLog();
  const ports = { clock: time, timers: time, log, meter: new KeptMeter() };
  const config = loadConfig(readConfig([file]), { env: {} });
  const audit = createAudit({ ...ports, config, write: async () => true, onChange: () => undefined });
  await audit.open();
  await audit.close();
  expect(log.lines.filter(({ level }) => level === "warn").map(({ fields }) => fields)).toEqual(told);
  rmSync(folder, { recursive: true });
});
