/** Verbs beside a gateway that runs, while its config file cannot be read: somebody is in the middle of a change. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort, HELLO, scriptServer, Workspace } from "./workspace.ts";

const workspace = new Workspace();
let port = 0;
const gateway = (more = "") => `[gateway]\nlisten = "127.0.0.1:${port}"\n${more}`;

beforeAll(async () => {
  port = await freePort();
  workspace.write("isthmus.toml", `${gateway()}${scriptServer("hello", HELLO)}`);
  await workspace.serve("up", ["hello"]);
});
afterAll(() => workspace[Symbol.asyncDispose]());

/** What is wrong, in one line, and where the verb goes on. */
const said = (place: string) =>
  new RegExp(`^isthmus: isthmus\\.toml:${place}: [^\\n]+; going on with http://127\\.0\\.0\\.1:${port}\\n$`);

describe.each<[string, () => string, string]>([
  [
    "in a table after that of the gateway",
    () => `${gateway()}${scriptServer("hello", HELLO)}cwd = nonsense\n`,
    "7:\\d+",
  ],
  ["in the table of the gateway", () => `${gateway("sse = \n")}${scriptServer("hello", HELLO)}`, "3:\\d+"],
  ["before the table of the gateway", () => `[log\n${gateway()}${scriptServer("hello", HELLO)}`, "1:\\d+"],
])("with a config that is broken %s", (_, text, place) => {
  beforeAll(() => void workspace.write("isthmus.toml", text()));

  test.each([
    [["status"], `at http://127.0.0.1:`],
    [["logs"], "listening"],
    [["list"], /hello\.greet +hello /],
    [["call", "hello.greet", "name=Ada"], "Hello, Ada!"],
    [["approvals"], ""],
    [["trace"], ""],
    [["token", "list"], ""],
  ])("%j asks the gateway, and says in one line that the file is broken", async (args, shown) => {
    const { code, stdout, stderr } = await workspace.run(...args);
    expect(stderr).toMatch(said(place));
    expect(stdout).toMatch(shown);
    expect(code).toBe(0);
  });
});

test.each([
  ["a key that is none", () => `${gateway()}efect = "deny"\n${scriptServer("hello", HELLO)}`],
  ["[auth], which counts from a start", () => `${gateway()}[auth]\ntokens = true\n${scriptServer("hello", HELLO)}`],
])("status says that the gateway has refused its config for %s", async (_, text) => {
  workspace.write("isthmus.toml", `${gateway()}${scriptServer("hello", HELLO)}`);
  const status = async () => (await workspace.run("status")).stdout;
  await expect.poll(status, { timeout: 20_000 }).not.toContain("was refused");
  workspace.write("isthmus.toml", text());
  await expect
    .poll(status, { timeout: 20_000 })
    .toMatch(/^Its config was refused .*"isthmus doctor" says what to do\.$/m);
});

test("where its address cannot be made out, a verb goes on with ISTHMUS_LISTEN, or with the address by default", async () => {
  workspace.write("isthmus.toml", `[gateway]\nlisten = 127.0.0.1:${port}\n`);
  const { code, stderr } = await workspace.start(["list"], { ISTHMUS_LISTEN: `127.0.0.1:${port}` }).ended;
  expect(code).toBe(0);
  expect(stderr).toMatch(said("2:\\d+"));
  const goesOn = /^isthmus: isthmus\.toml:2[:\d]*: [^\n]+; going on with http:\/\/127\.0\.0\.1:7411\n/;
  expect((await workspace.run("status")).stderr).toMatch(goesOn);
  workspace.write("isthmus.toml", `[gateway]\nlisten = "nowhere"\n`);
  expect((await workspace.run("status")).stderr).toMatch(goesOn);
});

test("where nothing runs, a verb that needs the config says what is wrong with it, once", async () => {
  workspace.write("isthmus.toml", `[gateway]\nlisten = "127.0.0.1:${await freePort()}"\nsse = \n`);
  const { code, stderr } = await workspace.run("list");
  expect([code, stderr]).toEqual([3, expect.stringMatching(/^isthmus: isthmus\.toml:3:\d+: [^\n]+\n$/)]);
});
