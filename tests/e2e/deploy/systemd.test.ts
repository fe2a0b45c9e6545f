import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { pathOf } from "../../needs/need.ts";
import { systemdAnalyze } from "../../needs/programs.ts";
import { ROOT } from "../kit/program.ts";

test("systemd has nothing against deploy/isthmus.service", () => {
  const folder = mkdtempSync(join(tmpdir(), "isthmus-unit-"));
  const file = join(folder, "isthmus.service");
  const unit = readFileSync(join(ROOT, "deploy/isthmus.service"), "utf8");
  // Whether the program is installed there is not the unit's fault.
  writeFileSync(file, unit.replace("/usr/local/bin/isthmus", process.execPath));
  const { status, stdout, stderr } = spawnSync(pathOf(systemdAnalyze), ["verify", "--man=no", file], {
    encoding: "utf8",
  });
  rmSync(folder, { recursive: true });
  expect([status, stdout, stderr]).toEqual([0, "", ""]);
});
