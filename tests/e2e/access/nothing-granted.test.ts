import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort, HELLO, scriptServer, Workspace } from "../cli/workspace.ts";

type Finding = { level: string; what: string; found: string; advice?: string };

const LINES = '  [[access.grants]]\n  agent = "ada"\n  server = "hello"\n';

describe("a gateway that asks for tokens and was told of no grant", () => {
  let workspace: Workspace;
  let shown = "";
  const tokens = { ada: "", admin: "" };
  const run = (args: readonly string[], token: string) => workspace.start(args, { ISTHMUS_TOKEN: token }).ended;
  const access = async (token: string) => {
    const { stdout } = await run(["doctor", "--json"], token);
    return (JSON.parse(stdout).findings as Finding[]).find(({ what }) => what === "access");
  };

  beforeAll(async () => {
    workspace = new Workspace();
    const listen = `listen = "127.0.0.1:${await freePort()}"`;
    workspace.write("isthmus.toml", `[gateway]\n${listen}\n[auth]\ntokens = true\n${scriptServer("hello", HELLO)}`);
  });
  afterAll(() => workspace[Symbol.asyncDispose]());

  test("is a problem to doctor before it was ever started, and looking makes no database", async () => {
    expect(await access("")).toMatchObject({
      level: "problem",
      found: expect.stringContaining("nobody may use anything"),
    });
    expect(existsSync(workspace.path(".isthmus"))).toBe(false);
  });

  test("lists nothing while it does not run, and does not say that nothing was granted", async () => {
    await using other = new Workspace();
    const config = (more: string) =>
      `[gateway]\nlisten = "127.0.0.1:${port}"\n[auth]\ntokens = true\n${more}${scriptServer("hello", HELLO)}`;
    const port = await freePort();
    other.write("isthmus.toml", config(""));
    await other.run("grant", "local", "hello");
    for (const words of [["list"], ["list", "--json"], ["call", "hello.greet", "name=Ada"]]) {
      const { code, stdout, stderr } = await other.run(...words);
      expect([code, stdout]).toEqual([7, ""]);
      expect(stderr).toBe(
        `isthmus: no gateway runs at http://127.0.0.1:${port} (ECONNREFUSED); "isthmus up" starts one\n` +
          "isthmus: callers are asked who they are, and the config grants nothing to any of them; what verbs have granted counts in the gateway that runs\n",
      );
    }
    other.write("isthmus.toml", config('[[access.grants]]\nagent = "local"\nserver = "hello"\n'));
    const listed = await other.run("list");
    expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining("hello.greet") });
    expect(listed.stderr).toContain("with what the config grants and nothing else");
  });

  test("says at the start that nobody may use anything, and what to write", async () => {
    tokens.ada = (await workspace.run("token", "create", "--user", "ada")).stdout.trim();
    tokens.admin = (await workspace.run("token", "create", "--user", "root", "--role", "admin")).stdout.trim();
    const { child } = workspace.start(["up"]);
    await new Promise<void>((resolve) => {
      child.stdout.on("data", (text) => {
        shown += text;
        if (shown.includes("Stop with")) resolve();
      });
    });
    expect(shown).toContain("Nobody may use anything: callers are asked who they are");
    expect(shown).toContain('  isthmus grant USER hello\nor in isthmus.toml:\n  [[access.grants]]\n  agent = "USER"\n');
  });

  test("says so in an empty list, with the name of whoever asks", async () => {
    const { code, stdout } = await run(["list"], tokens.ada);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Nothing is offered\.\n\nNobody may use anything/);
    expect(stdout).toContain("An admin of the gateway can let ada use hello:\n  isthmus grant ada hello\n");
    expect(stdout).toContain(LINES);
    expect(JSON.parse((await run(["list", "--json"], tokens.ada)).stdout)).toMatchObject({ grantsNothing: true });
  });

  test("is a problem to doctor, also of whoever runs it, and a warning to others, who see only the config", async () => {
    expect(await access(tokens.admin)).toMatchObject({
      level: "problem",
      advice: expect.stringContaining('"isthmus grant USER hello"'),
    });
    expect(await access("")).toMatchObject({ level: "problem" });
    const others = await workspace.start(["doctor", "--json"], { HOME: workspace.path("elsewhere") }).ended;
    expect((JSON.parse(others.stdout).findings as Finding[]).find(({ what }) => what === "access")).toMatchObject({
      level: "warning",
      found: expect.stringContaining("ISTHMUS_TOKEN"),
    });
  });

  test("says nothing of it any more when one grant was made", async () => {
    expect(await run(["grant", "ada", "hello"], tokens.admin)).toMatchObject({ code: 0 });
    expect((await run(["list"], tokens.ada)).stdout).toContain("hello.greet");
    expect(await access(tokens.admin)).toMatchObject({ level: "ok" });
    const bob = (await run(["token", "create", "--user", "bob"], tokens.admin)).stdout.trim();
    expect((await run(["list"], bob)).stdout).toMatch(
      /^Nothing is offered\.\n\nYou are bob, .*\n {2}isthmus grant bob hello\n$/,
    );
    // A role lets nobody use anything.
    const eve = (await run(["token", "create", "--user", "eve", "--role", "viewer"], tokens.admin)).stdout.trim();
    expect((await run(["list"], eve)).stdout).toMatch(
      /^Nothing is offered\.\n\nYou are eve, .*An admin .*\n {2}isthmus grant eve hello\n$/,
    );
    expect((await run(["list"], tokens.admin)).stdout).toMatch(
      /^Nothing is offered\.\n\nYou are root, .* You see .*\n {2}isthmus grant root hello\n$/,
    );
  });
});

test("the lines that are shown let the user in when they stand in the config", async () => {
  await using workspace = new Workspace();
  const config = `[gateway]\nlisten = "127.0.0.1:${await freePort()}"\n[auth]\ntokens = true\n${scriptServer("hello", HELLO)}`;
  workspace.write("isthmus.toml", `${config}${LINES}`);
  const token = (await workspace.run("token", "create", "--user", "ada")).stdout.trim();
  const { child } = workspace.start(["up"]);
  let shown = "";
  await new Promise<void>((resolve) => {
    child.stdout.on("data", (text) => {
      shown += text;
      if (shown.includes("Stop with")) resolve();
    });
  });
  expect(shown).not.toContain("Nobody may use anything");
  expect((await workspace.start(["list"], { ISTHMUS_TOKEN: token }).ended).stdout).toContain("hello.greet");
});

test.each([
  ["nothing granted", "", true],
  ["a grant of somebody else", LINES, true],
  ["a grant of the local user", LINES.replace("ada", "local"), false],
  ["opt-out for its server", '[access.servers]\nhello = "opt-out"\n', false],
])(
  "isthmus stdio says what to write where its client is offered nothing: with opt-in and %s",
  async (_what, more, isClosed) => {
    await using workspace = new Workspace();
    const access = '[auth]\ntokens = true\n[access]\ndefaultPolicy = "opt-in"\n';
    workspace.write("isthmus.toml", `${access}${more}${scriptServer("hello", HELLO)}`);
    const { code, stdout, stderr } = await workspace.run("stdio");
    expect([code, stdout]).toEqual([0, ""]);
    const said =
      'isthmus: write [[access.grants]] with agent = "local" and server = "hello"; what "isthmus grant" has granted';
    expect(stderr.includes(said)).toBe(isClosed);
    expect(stderr.includes("isthmus: nothing is offered")).toBe(isClosed);
  },
);
