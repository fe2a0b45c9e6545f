import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { ownEnvironment } from "../kit/own-home.ts";
import { ROOT } from "./kit/program.ts";

const run = promisify(execFile);

test.each(readdirSync(join(ROOT, "examples")))("examples/%s runs and checks itself", async (name) => {
  const { stdout } = await run(process.execPath, [join(ROOT, "examples", name, "check.mjs")], {
    env: ownEnvironment(),
    timeout: 20_000,
  });
  expect(stdout).toContain(`${name}: ok\n`);
});
