import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const SCRIPT = fileURLToPath(new URL("say-node.mjs", import.meta.url));

/** What it prints when npm says of itself that it runs on this Node. */
function saidOn(agent: string | undefined): string {
  const env = agent === undefined ? {} : { npm_config_user_agent: agent };
  return execFileSync(process.execPath, [SCRIPT], { env, encoding: "utf8" });
}

const agentOf = (version: string) => `npm/10.9.4 node/v${version} linux x64 workspaces/false`;

test.each([
  ["20.20.2", "20.20"],
  ["22.11.0", "22.11"],
])("says in one line that npm runs on Node %s, which is too old, and what the program runs on", (version, shown) => {
  expect(saidOn(agentOf(version))).toBe(
    `npm runs on Node ${shown}, which is too old for Isthmus: here, what npm starts runs on Node ${process.versions.node} instead.\n`,
  );
});

test.each([["22.12.0"], ["23.0.0"], ["24.21.0"]])("says nothing where npm runs on Node %s", (version) => {
  expect(saidOn(agentOf(version))).toBe("");
});

test("says nothing where no npm runs it", () => {
  expect(saidOn(undefined)).toBe("");
});
