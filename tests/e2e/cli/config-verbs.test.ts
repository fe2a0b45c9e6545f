import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { VERSION } from "../../../src/server/version.ts";
import { ROOT } from "../kit/program.ts";
import { freePort, HELLO, ODD, scriptServer, Workspace } from "./workspace.ts";

const free = '[gateway]\nlisten = "127.0.0.1:0"\n';

test.each([["version"], ["-V"], ["--version"]])("%s prints the version and nothing else", async (word) => {
  await using workspace = new Workspace();
  expect(await workspace.run(word)).toEqual({ code: 0, stdout: `${VERSION}\n`, stderr: "" });
});

test("a config that is named and not there is told so", async () => {
  await using workspace = new Workspace();
  const { code, stderr } = await workspace.run("list", "--config", "nope.toml");
  expect([code, stderr]).toEqual([3, expect.stringMatching(/^isthmus: \S*nope\.toml: there is no such file\n/)]);
});

describe("without a running gateway", () => {
  test("list and call open the config in their own process, and say so", async () => {
    await using workspace = new Workspace();
    workspace.write("isthmus.toml", free + scriptServer("hello", HELLO));
    const listed = await workspace.run("list");
    expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining("hello.greet") });
    expect(listed.stderr).toMatch(/^isthmus: .*in this process for now; start "isthmus up"/);
    expect(await workspace.run("call", "hello.count", "to=2")).toMatchObject({
      code: 0,
      stdout: "Counted to 2.\n",
      stderr: expect.stringContaining("1/2\n2/2\n"),
    });
    expect(await workspace.run("search", "greet")).toMatchObject({ code: 0 });
  });

  test("trace cannot remember anything", async () => {
    await using workspace = new Workspace();
    workspace.write("isthmus.toml", `[gateway]\nlisten = "127.0.0.1:${await freePort()}"\n`);
    expect(await workspace.run("trace")).toMatchObject({
      code: 7,
      stderr: expect.stringContaining("no gateway runs"),
    });
  });
});

test("a verb finds the gateway by the config, and completes its names", async () => {
  await using workspace = new Workspace();
  const port = await freePort();
  workspace.write("isthmus.toml", `[gateway]\nlisten = "127.0.0.1:${port}"\n${scriptServer("hello", HELLO)}`);
  const { child } = workspace.start(["up"]);
  await new Promise<void>((resolve) => child.stdout.on("data", (text) => text.includes("Stop with") && resolve()));
  expect(await workspace.run("call", "hello.greet", "name=you")).toEqual({
    code: 0,
    stdout: "Hello, you!\n",
    stderr: "",
  });
  expect((await workspace.run("complete", "tool")).stdout).toBe("hello.greet\nhello.add\nhello.count\n");
  expect((await workspace.run("complete", "server")).stdout).toBe("hello\n");
});

describe("up", () => {
  test("without a config makes a call and says what to type next", async () => {
    await using workspace = new Workspace();
    const { child, ended } = workspace.start(["up", "--listen", "127.0.0.1:0"]);
    await new Promise<void>((resolve) => child.stdout.on("data", (text) => text.includes("Stop with") && resolve()));
    child.kill("SIGTERM");
    const { stdout, code } = await ended;
    expect(code).toBe(0);
    expect(stdout).toMatch(/^demo: ok, 4 tools\n/);
    expect(stdout).toContain("A call, just now:\n  isthmus call demo.greet name=Ada\n  Hello, Ada!\n");
    expect(stdout).toMatch(/isthmus list --url http:\/\/127\.0\.0\.1:\d+/);
  });
});

describe("add", () => {
  test("appends to the file, keeps the rest and its permissions, and what it adds works", async () => {
    await using workspace = new Workspace();
    const before = `# mine, with care\n${free}  # odd   spacing\n`;
    chmodSync(workspace.write("isthmus.toml", before), 0o640);
    const script = scriptServer("x", ODD).match(/args = \["([^"]+)"/)?.[1] ?? "";
    const args = ["add", "odd", "--env", "GREETING=hi", "--env", "SECRET_TOKEN", "--", process.execPath, script];
    const { code, stderr } = await workspace.run(...args);
    expect(code).toBe(0);
    expect(stderr).toContain("set SECRET_TOKEN before the gateway starts");
    expect(workspace.read("isthmus.toml").startsWith(before)).toBe(true);
    expect(workspace.read("isthmus.toml")).toContain('SECRET_TOKEN = { fromEnv = "SECRET_TOKEN" }');
    expect(statSync(workspace.path("isthmus.toml")).mode & 0o777).toBe(0o640);
    const call = (name: string) =>
      workspace.start(["call", "odd.env", `name=${name}`], { SECRET_TOKEN: "s3" }).ended.then(({ stdout }) => stdout);
    expect([await call("GREETING"), await call("SECRET_TOKEN")]).toEqual(["hi\n", "s3\n"]);
  });

  test("refuses what would break the config, and changes nothing", async () => {
    await using workspace = new Workspace();
    const before = free + scriptServer("hello", HELLO);
    workspace.write("isthmus.toml", before);
    const refusals = [
      [["add", "hello", "--url", "http://a.test"], 2, 'there is a server "hello" already'],
      [["add", "bad", "--url", "ftp://a.test"], 3, "servers.bad.url: expected an http(s) URL"],
      [["add", "mcp", "--", "x"], 3, "expected an id that is no path of the gateway"],
      [["add", "other", "--prefix", "hello", "--", "x"], 3, "expected a prefix of its own"],
      [["add", "bad name!", "--", "x"], 2, '"bad-name" would do'],
      [["add", "nothing"], 2, "expected either --url"],
      [["add", "w", "deno", "-A", "foo bar"], 2, "isthmus: write: isthmus add w -- deno -A 'foo bar'\n"],
    ] as const;
    for (const [args, code, message] of refusals) {
      const run = await workspace.run(...args);
      expect(run.stderr).toContain(message);
      expect(run.code).toBe(code);
    }
    expect(workspace.read("isthmus.toml")).toBe(before);
    expect(readdirSync(workspace.folder)).toEqual(["isthmus.toml"]);
  });

  test("makes the file when there is none", async () => {
    await using workspace = new Workspace();
    const { stdout } = await workspace.run("add", "crm", "--url", "http://127.0.0.1:9000/mcp", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ created: true, server: { id: "crm" } });
    expect(workspace.read("isthmus.toml")).toBe('[[servers]]\nid = "crm"\nurl = "http://127.0.0.1:9000/mcp"\n');
    expect(existsSync(workspace.path(".isthmus"))).toBe(false);
  });
});

test.each([
  ["token", "token: say which: create, list, rotate, revoke"],
  ["vault", "vault: say which: rotate"],
  ["operator", "operator: say which: init, token"],
  ["completion", "completion: say which: bash, zsh, fish"],
])("%s alone says what it can do, and where more is said", async (verb, said) => {
  await using workspace = new Workspace();
  const { code, stderr } = await workspace.run(verb);
  expect(stderr.trimEnd()).toBe(`isthmus: ${said}\n"isthmus help ${verb}" says what they do.`);
  expect(code).toBe(2);
});

test("a mistyped verb or option is met with a suggestion", async () => {
  await using workspace = new Workspace();
  const verb = await workspace.run("lst");
  expect(verb).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^isthmus: unknown command 'lst'\n\(Did you mean list\?\)/),
  });
  const option = await workspace.run("list", "--resource");
  expect(option).toMatchObject({ code: 2, stderr: expect.stringContaining("(Did you mean --resources?)") });
  expect((await workspace.run("help", "call")).stdout).toContain("--questions");
});

test("a tool that is held back is missed by nobody: list and status count it, and call says why", async () => {
  await using workspace = new Workspace();
  const script = workspace.write("server.mjs", readFileSync(join(ROOT, HELLO), "utf8"));
  const server = `[[servers]]\nid = "hello"\ncommand = ${JSON.stringify(process.execPath)}\nargs = ["${script}"]\n`;
  workspace.write("isthmus.toml", `[gateway]\nlisten = "127.0.0.1:${await freePort()}"\n${server}pin = "block"\n`);
  expect((await workspace.run("list")).stdout).not.toContain("held back");
  workspace.write("server.mjs", workspace.read("server.mjs").replace("Greets someone by name", "Sends me your mail"));
  await workspace.serve("up", ["hello"]);
  const counted = '1 tool is held back because it changed: "isthmus pin diff" shows how.\n';
  expect((await workspace.run("list")).stdout).toContain(`\n\n${counted}`);
  expect((await workspace.run("list", "--server", "hello")).stdout).toContain(counted);
  expect(JSON.parse((await workspace.run("list", "--json")).stdout)).toMatchObject({ held: ["hello.greet"] });
  // The file of pins, which it reads, is written half a second after a change.
  await expect
    .poll(async () => (await workspace.run("status")).stdout, { timeout: 10_000 })
    .toContain(`\n\n${counted}`);
  const why = 'isthmus: "hello.greet" is held back because it changed; "isthmus pin diff hello.greet" shows how';
  for (const verb of [
    ["call", "hello.greet", "name=Ada"],
    ["show", "hello.greet"],
  ])
    expect(await workspace.run(...verb)).toMatchObject({ code: 6, stderr: expect.stringContaining(why) });
  await workspace.run("pin", "accept", "hello.greet", "--yes");
  expect((await workspace.run("status")).stdout).not.toContain("held back");
});
