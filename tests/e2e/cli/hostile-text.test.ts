/** What servers, callers and files wrote, shown on a real terminal by every verb. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../config/watching.ts";
import { ROOT } from "../kit/program.ts";
import { freePort, scriptServer, Workspace } from "./workspace.ts";

const SERVER = "tests/e2e/cli/hostile-text-server.mjs";
const PROGRAM = join(ROOT, "dist/isthmus.js");
/** Sets the title, starts a sequence in one character, turns the direction of text, goes back to the start of the line, ends a line. */
const EVIL = "\u001b]0;owned\u0007\u009b31m\u202egnp\u2066\rover\u2028line\u007f";
/** What the program itself may do: end lines, clear a line or a block that it drew, and colour a sign. */
const ESC = "\u001b\\[";
const OWN = new RegExp(`\r\n|\r${ESC}K|${ESC}\\d+A\r${ESC}J|${ESC}3[1239]m`, "g");

const workspace = new Workspace();
const children = new Set<ChildProcess>();
let gateway = { shown: () => "" };
let id = "";

/** On a terminal of its own, as `script` makes one. */
function onTerminal(args: readonly string[]): { child: ChildProcess; shown: () => string; ended: Promise<string> } {
  const words = [process.execPath, PROGRAM, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`);
  const child = spawn("script", ["-qec", words.join(" "), "/dev/null"], {
    cwd: workspace.folder,
    env: { PATH: process.env.PATH ?? "", HOME: workspace.folder, TERM: "xterm", SHELL: "/bin/sh" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.add(child);
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (more: string) => {
    text += more;
  });
  const ended = new Promise<string>((resolve) => child.once("close", () => resolve(text)));
  return { child, shown: () => text, ended };
}

function steering(text: string): string[] {
  return text.replace(OWN, "\n").match(/[^\P{C}\n\t]|[\u2028\u2029]/gu) ?? [];
}

beforeAll(async () => {
  const listen = `127.0.0.1:${await freePort()}`;
  const own = `[gateway]\nlisten = "${listen}"\n[audit]\n[auth]\ntokens = true\nlocal = true\n[access]\ndefaultPolicy = "opt-out"\n[gate]\nmode = "open"\n`;
  const dead = `[[servers]]\nid = "dead"\ncommand = "/no/such/${JSON.stringify(EVIL).slice(1, -1)}"\n`;
  workspace.write("isthmus.toml", `${own}${scriptServer("evil", SERVER, EVIL)}${dead}`.replaceAll("\u007f", "\\u007f"));
  const file = {
    mcpServers: { [`name${EVIL}`]: { command: `run${EVIL}`, args: [EVIL], env: { [`K${EVIL}`]: EVIL } } },
  };
  workspace.write("client.json", JSON.stringify(file));
  workspace.write("trail.jsonl", `${JSON.stringify({ kind: EVIL })}\n`);
  gateway = onTerminal(["up"]);
  await until(() => gateway.shown().includes("Stop with") || undefined, "the summary");
  id = (await workspace.run("token", "create", "--user", "ada", "--json")).stdout;
  expect((await workspace.run("call", "evil.say")).stdout).toContain("Text");
}, 60_000);
afterAll(async () => {
  for (const child of children) child.kill("SIGTERM");
  await workspace[Symbol.asyncDispose]();
});

describe("on a terminal", () => {
  test.each<[string, string[]]>([
    ["list", ["list"]],
    ["list, all of it", ["list", "--json"]],
    ["show of a tool", ["show", "evil.choose"]],
    ["show of a tool as JSON", ["show", "evil.choose", "--json"]],
    ["show of a prompt", ["show", "evil.ask"]],
    ["show of a resource", ["show", "evil://one"]],
    ["search", ["search", "about"]],
    ["call", ["call", "evil.say"]],
    ["call as JSON", ["call", "evil.say", "--json"]],
    ["a call that fails", ["call", "evil.fail"]],
    ["a call that is refused", ["call", "evil.refuse"]],
    ["a call without an argument", ["call", "evil.choose"]],
    ["a call with an argument that is no choice", ["call", "evil.choose", "mode=other"]],
    ["a call of nothing", ["call", `evil.${EVIL}`]],
    ["prompt", ["prompt", "evil.ask"]],
    ["prompt as JSON", ["prompt", "evil.ask", "--json"]],
    ["read", ["read", "evil://one"]],
    ["read of nothing", ["read", `evil://${EVIL}`]],
    ["status", ["status"]],
    ["status as JSON", ["status", "--json"]],
    ["trace", ["trace"]],
    ["trace of nothing", ["trace", EVIL]],
    ["trace as JSON", ["trace", "--json"]],
    ["logs", ["logs", "--level", "debug"]],
    ["logs as JSON", ["logs", "--level", "debug", "--json"]],
    ["sessions", ["sessions"]],
    ["approvals", ["approvals"]],
    ["audit query", ["audit", "query"]],
    ["audit query as JSON", ["audit", "query", "--json"]],
    ["audit export", ["audit", "export"]],
    ["audit verify", ["audit", "verify"]],
    ["audit verify of a file", ["audit", "verify", "trail.jsonl"]],
    ["audit verify of no file", ["audit", "verify", `no${EVIL}`]],
    ["token create", ["token", "create", "--user", `bob${EVIL}`]],
    ["token list", ["token", "list"]],
    ["token rotate of nothing", ["token", "rotate", EVIL]],
    ["grant", ["grant", `bob${EVIL}`, "evil"]],
    ["revoke", ["revoke", `bob${EVIL}`, "evil"]],
    ["explain", ["explain", `bob${EVIL}`, "evil.say"]],
    ["pin list", ["pin", "list", "--all"]],
    ["pin list as JSON", ["pin", "list", "--all", "--json"]],
    ["doctor", ["doctor", "--timeout", "5s"]],
    ["import", ["import", "client.json", "--dry-run"]],
    ["import as JSON", ["import", "client.json", "--dry-run", "--json"]],
    ["add", ["add", `x${EVIL}`, "--", `run${EVIL}`]],
    ["remove", ["remove", `x${EVIL}`]],
    ["disable of nothing", ["disable", EVIL]],
    ["no verb", [EVIL]],
    ["no option", ["list", `--${EVIL}`]],
  ])("%s obeys nothing that others wrote", async (_, args) => {
    const shown = await onTerminal(args).ended;
    expect(shown.length).toBeGreaterThan(0);
    expect(steering(shown), shown).toEqual([]);
  });

  test("trace of what a caller named so obeys nothing either", async () => {
    await workspace.run("read", `evil://${EVIL}`);
    const { calls } = JSON.parse((await workspace.run("trace", "--json")).stdout);
    const { callId } = calls.find(({ target }: { target: string }) => target.includes("owned"));
    const shown = await onTerminal(["trace", callId]).ended;
    expect(shown).toContain("owned");
    expect(steering(shown)).toEqual([]);
  });

  test("a token that is replaced obeys nothing either", async () => {
    expect(steering(await onTerminal(["token", "rotate", JSON.parse(id).id]).ended)).toEqual([]);
  });

  test("nor does the gateway itself, in its summary and its log", () => {
    expect(gateway.shown()).toContain("evil");
    expect(steering(gateway.shown())).toEqual([]);
  });
});

test("what goes into a pipe is as the server sent it", async () => {
  const { stdout } = await workspace.run("call", "evil.say");
  expect(stdout).toContain(`Text ${EVIL}\n`);
  const { stdout: json } = await workspace.run("call", "evil.say", "--json");
  expect(JSON.parse(json).content[0].text).toBe(`Text ${EVIL}`);
});
