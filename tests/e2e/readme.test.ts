/** The example in README.md is the product at its smallest, so it is run as it stands there. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { startGateway } from "./kit/gateway.ts";
import { blockOf } from "./kit/markdown.ts";
import { ROOT } from "./kit/program.ts";

const run = promisify(execFile);

test("the README's config and call give the README's answer", async () => {
  const config = blockOf("README.md", "toml");
  // Its paths are those of a clone; the gateway of this test starts in a folder of its own.
  await using gateway = await startGateway({ config: config.replace("examples/", `${join(ROOT, "examples")}/`) });
  const command = blockOf("README.md", "sh").replaceAll("http://127.0.0.1:7411", gateway.origin);
  const { stdout } = await run("sh", ["-c", command], { timeout: 10_000 });
  expect(JSON.parse(stdout)).toEqual(JSON.parse(blockOf("README.md", "json")));
});
