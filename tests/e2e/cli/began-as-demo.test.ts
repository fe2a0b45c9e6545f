/** A gateway that began without a config, and has taken one over: verbs speak to it, and not to a database that it does not use. */
import { EventEmitter, once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROOT } from "../kit/program.ts";
import { freePort, HELLO, Workspace } from "./workspace.ts";

const workspace = new Workspace();
let env: Readonly<Record<string, string>>;
let log = "";
const run = (...args: string[]) => workspace.start(args, env).ended;

beforeAll(async () => {
  env = { ISTHMUS_LISTEN: `127.0.0.1:${await freePort()}` };
  const { child } = workspace.start(["up"], env);
  const heard = new EventEmitter();
  const hear = (chunk: string) => {
    log += chunk;
    heard.emit("text");
  };
  child.stdout.on("data", hear);
  child.stderr.on("data", hear);
  const said = async (text: string) => {
    while (!log.includes(text)) await once(heard, "text");
  };
  await said("Stop with");
  const taken = said('"provider":"hello","status":"ok"');
  await run("add", "hello", "--", process.execPath, join(ROOT, HELLO));
  await taken;
});
afterAll(() => workspace[Symbol.asyncDispose]());

test("a denial counts at once in the gateway that runs, and is said to end with it", async () => {
  expect((await run("call", "hello.greet", "name=Ada")).code).toBe(0);
  const denied = await run("grant", "local", "hello.greet", "--deny");
  expect([denied.code, denied.stdout]).toEqual([0, "local may not use greet of hello.\n"]);
  expect(denied.stderr).toContain("keeps nothing yet: this ends with it");
  expect((await run("explain", "local", "hello.greet")).stdout).toMatch(/^local may not call hello\.greet: /);
  expect((await run("call", "hello.greet", "name=Ada")).code).not.toBe(0);
  expect((await run("audit", "tail")).stdout).toMatch(/ACCESS_GRANTED +SUCCESS +operator +hello\.greet/);
  expect((await run("revoke", "local", "hello.greet")).code).toBe(0);
  expect((await run("call", "hello.greet", "name=Ada")).code).toBe(0);
});

test("no token is made for a gateway that knows none, and the verb says what is needed", async () => {
  for (const words of [["create", "--user", "ada"], ["list"]]) {
    const { code, stdout, stderr } = await run("token", ...words);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("keeps no tokens");
    expect(stderr).toContain("tokens = true");
  }
});

test("no verb makes a database beside it", async () => {
  await run("audit", "query");
  expect(existsSync(workspace.path(".isthmus", "isthmus.db"))).toBe(false);
});

test("its log, status and doctor say that grants, tokens and the trail are only in memory until a restart", async () => {
  expect(log).toContain("grants, tokens and the audit trail are only in memory: restart the gateway to keep them");
  expect((await run("status")).stdout).toContain("are in memory until it is restarted");
  const { findings } = JSON.parse((await run("doctor", "--json")).stdout);
  expect(findings).toContainEqual(
    expect.objectContaining({ what: "state", level: "warning", advice: expect.stringContaining("restart") }),
  );
});

test("a grant that no gateway has heard of is said to be written only", async () => {
  const alone = { ISTHMUS_LISTEN: `127.0.0.1:${await freePort()}` };
  const { code, stderr } = await workspace.start(["grant", "local", "hello.count", "--deny"], alone).ended;
  expect([code, stderr]).toEqual([0, expect.stringContaining("no gateway of yours answers at http://127.0.0.1:")]);
});
