/** What install.md types first, as it stands there, in a clone that is somebody's own. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import manifest from "../../../package.json" with { type: "json" };
import { freePort } from "../cli/workspace.ts";
import { copyClone } from "../first-minute/newcomer.ts";
import { blockOf } from "../kit/markdown.ts";
import { descendants, waitForEnd } from "../kit/processes.ts";
import { npmEnvironment, untilServing } from "./installed.ts";

const COMMAND_MS = 120_000;
const STOP_MS = 15_000;

test("the first commands of docs/guide/install.md make a package of a clone, install it, and start it", {
  timeout: 300_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "isthmus-from-clone-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const [home, prefix, clone] = ["home", "prefix", "clone"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(home);
  copyClone(clone);
  const host = `127.0.0.1:${await freePort()}`;
  const settings = {
    npm_config_prefix: prefix,
    npm_config_prefer_offline: "true",
    npm_config_update_notifier: "false",
  };
  const env = { ...npmEnvironment({ home, prefix }), ...settings, ISTHMUS_LISTEN: host };
  const type = (command: string, cwd = clone): string =>
    execFileSync("sh", ["-c", command], { cwd, env, encoding: "utf8", stdio: "pipe", timeout: COMMAND_MS });

  const commands = blockOf("docs/guide/install.md", "sh").trim().split("\n");
  const start = commands.pop() ?? "";
  for (const command of commands) {
    // What was built when packages were installed may be old by the time somebody packs.
    if (command === "npm pack") rmSync(join(clone, "dist"), { recursive: true });
    type(command);
  }
  expect(type("command -v isthmus", home).trim()).toBe(join(prefix, "bin/isthmus"));
  expect(type("isthmus --version", home).trim()).toBe(manifest.version);

  const [program = "", ...words] = start.split(" ");
  const child = spawn(program, words, { cwd: clone, env, stdio: "ignore" });
  const ended = once(child, "exit");
  const pid = child.pid as number;
  try {
    await untilServing(`http://${host}`);
    expect(type("isthmus call demo.greet name=Ada", home)).toContain("Hello, Ada!");
  } finally {
    const all = [pid, ...descendants(pid)];
    child.kill("SIGTERM");
    await ended;
    expect(await waitForEnd(all, STOP_MS)).toEqual([]);
  }
});
