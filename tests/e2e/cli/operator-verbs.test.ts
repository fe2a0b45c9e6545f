import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EVERYTHING, freePort, HELLO, scriptServer, Workspace } from "./workspace.ts";

const workspace = new Workspace();
let port = 0;

/** A config that every verb finds, and a gateway that runs with it. */
beforeAll(async () => {
  port = await freePort();
  const [gateway, auth] = [
    `[gateway]\nlisten = "127.0.0.1:${port}"\n`,
    '[auth]\ntokens = true\n[access]\ndefaultPolicy = "opt-in"\n',
  ];
  workspace.write(
    "isthmus.toml",
    `${gateway}${auth}${scriptServer("hello", HELLO)}${scriptServer("every", EVERYTHING)}`,
  );
  const made = await workspace.run("token", "create", "--user", "root", "--role", "admin");
  workspace.write("root.env", `# of the operator\nISTHMUS_TOKEN=${made.stdout.trim()}\n`);
  await workspace.serve("serve", ["hello", "every"]);
});
afterAll(() => workspace[Symbol.asyncDispose]());

const asRoot = (...args: string[]) => workspace.run(...args, "--env-file", "root.env");
const asToken = (token: string, ...args: string[]) => workspace.start(args, { ISTHMUS_TOKEN: token }).ended;

describe("an operator with a token in a file", () => {
  test("sees how the gateway is", async () => {
    const { code, stdout } = await asRoot("status");
    expect(code).toBe(0);
    expect(stdout).toContain(`at http://127.0.0.1:${port}/mcp: ready\n`);
    expect(stdout).toMatch(/^You are token:default\/root\/\w+ of default, with the role admin\.$/m);
    expect(stdout).toMatch(/^ {2}hello +ok +3 tools$/m);
    expect(stdout).toMatch(/0 calls waiting for a yes/);
    expect(JSON.parse((await asRoot("status", "--json")).stdout)).toMatchObject({
      about: { version: expect.any(String) },
    });
  });

  test("grants a tool and a server, and takes them back; each counts at once", async () => {
    const token = (await asRoot("token", "create", "--user", "ann")).stdout.trim();
    const listed = async () => JSON.parse((await asToken(token, "list", "--json")).stdout);
    const names = async () => (await listed()).offers.map(({ name }: { name: string }) => name);
    expect(await names()).toEqual([]);
    expect(await asRoot("grant", "ann", "hello.greet")).toMatchObject({
      code: 0,
      stdout: "ann may use greet of hello.\n",
    });
    expect(await names()).toEqual(["hello.greet"]);
    expect((await asRoot("grant", "ann", "hello", "--expires", "1h", "--reason", "weekly report")).code).toBe(0);
    expect(await names()).toHaveLength(3);
    expect((await asRoot("grant", "ann", "add", "--server", "hello", "--deny")).stdout).toBe(
      "ann may not use add of hello.\n",
    );
    expect(await names()).toEqual(["hello.greet", "hello.count"]);
    for (const what of ["hello", "hello.greet", "hello.add"])
      expect((await asRoot("revoke", "ann", what)).code).toBe(0);
    expect(await names()).toEqual([]);
    expect(await asRoot("revoke", "ann", "hello")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("isthmus explain ann TOOL"),
    });
    expect(await asRoot("grant", "ann", "hello", "--expires", "soon")).toMatchObject({ code: 2 });
    expect(await asRoot("grant", "ann", "helo")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean "hello"?'),
    });
  });

  test("is told of a tool that is not there, and what is said about it is kept", async () => {
    const granted = await asRoot("grant", "eve", "hello.greeet");
    expect(granted).toMatchObject({ code: 0, stdout: "eve may use greeet of hello.\n" });
    expect(granted.stderr).toContain('hello has no tool "greeet" now');
    const denied = await asRoot("grant", "eve", "hello.greeet", "--deny");
    expect(denied.stderr).toMatch(/hello has no tool "greeet" now.*protects nothing/s);
    expect((await asRoot("grant", "eve", "hello.greet")).stderr).toBe("");
    const { stdout } = await asRoot("explain", "eve", "hello.nope");
    expect(stdout).toContain("\nThere is no hello.nope now.");
    expect((await asRoot("explain", "eve", "hello.greet")).stdout).not.toContain("There is no");
    for (const what of ["hello.greeet", "hello.greet"]) expect((await asRoot("revoke", "eve", what)).code).toBe(0);
  });

  test.each([
    ["hello.*", []],
    ["hello.gr*", []],
    ["*", ["--server", "hello"]],
  ])("is told that %s is no tool, and what to write; nothing is granted, denied or taken back", async (what, more) => {
    for (const [verb, ...words] of [["grant"], ["grant", "--deny"], ["revoke"]] as [string, ...string[]][]) {
      const { code, stdout, stderr } = await asRoot(verb, "zed", what, ...more, ...words);
      const said = `a tool's name takes no *: for all of it write "isthmus ${verb} zed hello"`;
      expect([code, stdout, stderr]).toEqual([2, "", `isthmus: ${said}\n`]);
    }
    expect((await asRoot("explain", "zed", "hello.greet")).stdout).toMatch(/^zed may not call .*default policy/);
  });

  test("grants a token's user what is granted to it by the name that status gives it, and says so", async () => {
    const token = (await asRoot("token", "create", "--user", "zoe")).stdout.trim();
    const id = /^You are (\S+) /m.exec((await asToken(token, "status")).stdout)?.[1] ?? "";
    for (const [verb, done] of [
      ["grant", "zoe may use all of hello.\n"],
      ["revoke", "zoe has no grant for all of hello any more.\n"],
    ] as const) {
      const { code, stdout, stderr } = await asRoot(verb, id, "hello");
      expect([code, stdout]).toEqual([0, done]);
      expect(stderr).toContain(`${id} is a token of zoe; grants are for users, so this is about zoe`);
      const { stdout: said } = await asRoot("explain", "zoe", "hello.greet");
      expect(said.includes("zoe may call hello.greet")).toBe(verb === "grant");
    }
    const other = await asRoot("grant", "token:acme/zoe/1d2f", "hello");
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining("an admin of acme grants it")]);
  });

  test.each([
    [["token", "create", "--user", "ann", "--expires", "30"], '--expires: expected a duration such as 30d, found "30"'],
    [["token", "rotate", "x", "--expires", "0s"], '--expires: expected a duration such as 30d, found "0s"'],
    [["grant", "ann", "hello", "--expires", "10"], '--expires: expected a duration such as 30d, found "10"'],
    [["grant", "z*", "hello"], '<user>: expected a name, "*" for everybody, or'],
  ])("is told by %j which word is wrong, as it was typed", async (words, said) => {
    const { code, stdout, stderr } = await asRoot(...words);
    expect([code, stdout, stderr]).toEqual([2, "", expect.stringContaining(`isthmus: ${said}`)]);
  });

  test("sees of a token that has ended that it has", async () => {
    expect((await asRoot("token", "create", "--user", "max", "--expires", "1s")).code).toBe(0);
    await expect.poll(async () => (await asRoot("token", "list")).stdout, { timeout: 10_000 }).toMatch(/ max +expired/);
    expect((await asRoot("token", "list")).stdout).toMatch(/ root .*admin +never/);
  });

  test("finds a denial on the trail told from a grant, and whom it is about", async () => {
    const denied = await asRoot("grant", "gus", "hello", "--deny");
    expect(denied.stdout).toBe("gus may not use anything of hello.\n");
    expect((await asRoot("grant", "gus", "hello.add")).code).toBe(0);
    const { stdout } = await asRoot("audit", "query", "--type", "ACCESS_GRANTED");
    expect(stdout).toMatch(/ACCESS_GRANTED +SUCCESS .* hello +deny gus$/m);
    expect(stdout).toMatch(/ACCESS_GRANTED +SUCCESS .* hello\.add +allow gus$/m);
    for (const what of ["hello", "hello.add"]) expect((await asRoot("revoke", "gus", what)).code).toBe(0);
  });

  test("is told that a name is a server's", async () => {
    const shown = await asRoot("show", "hello");
    expect(shown).toMatchObject({ code: 6, stderr: expect.stringContaining('"hello" is a server') });
    expect(shown.stderr).toContain("isthmus list --server hello");
  });

  test("learns from explain what would let somebody in, also by the name that status gives them", async () => {
    const token = (await asRoot("token", "create", "--user", "fay")).stdout.trim();
    const id = /^You are (\S+) /m.exec((await asToken(token, "status")).stdout)?.[1] ?? "";
    for (const name of ["fay", id]) {
      const { stdout } = await asRoot("explain", name, "hello.greet");
      expect(stdout).toMatch(/may not call hello\.greet/);
      expect(stdout).toContain("\nTo let fay use it: isthmus grant fay hello.greet\n");
    }
    expect((await asRoot("grant", "fay", "hello.greet")).code).toBe(0);
    expect((await asRoot("explain", id, "hello.greet")).stdout).toMatch(
      /may call hello\.greet: granted to agent "fay"/,
    );
    expect((await asRoot("grant", "fay", "hello.greet", "--deny")).code).toBe(0);
    expect((await asRoot("explain", "fay", "hello.greet")).stdout).not.toContain("isthmus grant");
    expect((await asRoot("revoke", "fay", "hello.greet")).code).toBe(0);
  });

  test("replaces a token: the old one is refused from then on", async () => {
    const old = (await asRoot("token", "create", "--user", "bob", "--role", "viewer")).stdout.trim();
    const { tokens } = JSON.parse((await asRoot("token", "list", "--json")).stdout);
    const { id } = tokens.find(({ user }: { user: string }) => user === "bob");
    const { code, stdout, stderr } = await asRoot("token", "rotate", id);
    expect([code, stderr]).toEqual([0, expect.stringContaining(`${id} is refused from now on`)]);
    expect((await asToken(stdout.trim(), "status")).stdout).toContain("with the role viewer");
    expect((await asToken(old, "status")).code).not.toBe(0);
    expect((await asRoot("token", "rotate")).code).toBe(2);
  });

  test("reads the log of the gateway, by level and by text, and follows it", async () => {
    const started = workspace.start(["logs", "--follow", "--level", "info", "--json", "--env-file", "root.env"]);
    let followed = "";
    started.child.stdout.on("data", (text) => {
      followed += text;
    });
    await expect.poll(() => followed, { timeout: 30_000 }).toContain('"message":"listening"');
    expect((await asRoot("call", "hello.greet", "name=Ada")).code).not.toBe(0);
    expect((await asRoot("grant", "root", "hello.greet")).code).toBe(0);
    expect((await asRoot("call", "hello.greet", "name=Ada")).code).toBe(0);
    await expect
      .poll(() => followed, { timeout: 30_000 })
      .toMatch(/"message":"call finished".*"target":"hello\/greet"/);
    started.child.kill("SIGTERM");
    const { code, stdout } = await asRoot("logs", "hello/greet", "--limit", "1");
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^\S+ info {2}call finished .*target=hello\/greet.*\n$/)]);
    expect((await asRoot("logs", "hello/greet", "--level", "error")).stdout).toBe("");
    expect((await asRoot("revoke", "root", "hello.greet")).code).toBe(0);
  });

  test("lists sessions and ends one", async () => {
    const token = (await asRoot("token", "create", "--user", "cleo")).stdout.trim();
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "e2e", version: "1" } };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
    const opened = await fetch(`http://127.0.0.1:${port}/mcp`, { method: "POST", headers, body });
    await opened.text();
    const { stdout } = await asRoot("sessions");
    expect(stdout).not.toContain(opened.headers.get("mcp-session-id"));
    const name = /^(s-\S+) +cleo of default +2025-11-25 +\/mcp /m.exec(stdout)?.[1] ?? "";
    expect(await asRoot("sessions", "end", name)).toMatchObject({ code: 0, stdout: `Ended ${name}.\n` });
    expect((await asRoot("sessions")).stdout).not.toContain(name);
    expect((await asRoot("sessions", "end", name)).code).toBe(1);
  });
});

test.each([["list"], ["status"], ["call", "hello.greet", "name=Ada"], ["show", "hello.greet"], ["search", "greet"]])(
  "%s by somebody without a role puts no refusal on the trail",
  async (...words) => {
    const refusals = async () =>
      (await asRoot("audit", "query", "--type", "dev.isthmus.request_refused", "--limit", "1000", "--json")).stdout;
    const token = (await asRoot("token", "create", "--user", "ida")).stdout.trim();
    const before = await refusals();
    await asToken(token, ...words);
    expect(await refusals()).toBe(before);
  },
);

describe("a file of variables", () => {
  test("has a line that is no variable named by its number, without what is in it", async () => {
    const lines = ['A="two', 'lines"', "# remark", "", "export B=1", "hunter2", "C = 3", "hunter 3=x"];
    workspace.write("odd.env", `${lines.join("\n")}\n`);
    const { code, stderr } = await workspace.run(
      "status",
      "--url",
      `127.0.0.1:${port}`,
      "-e",
      "root.env",
      "-e",
      "odd.env",
    );
    expect(code).toBe(0);
    expect(stderr).toContain("-e odd.env: lines 6, 8 are not NAME=value, and are left out");
    expect(stderr).not.toContain("hunter");
    expect((await asRoot("status")).stderr).toBe("");
  });

  test("that is not there ends the verb before it does anything", async () => {
    for (const option of ["-e", "--env-file"]) {
      expect(await workspace.run("status", option, "nowhere.env")).toMatchObject({
        code: 9,
        stderr: expect.stringContaining("nowhere.env"),
      });
    }
  });

  test("that is a pipe is not waited for", async () => {
    execFileSync("mkfifo", [workspace.path("pipe.env")]);
    expect(await workspace.run("status", "-e", "pipe.env")).toMatchObject({
      code: 9,
      stderr: "isthmus: -e pipe.env: is no regular file\n",
    });
  });

  test.each([
    ...["NODE_OPTIONS", "NODE_PATH", "NODE_TLS_REJECT_UNAUTHORIZED", "NODE_EXTRA_CA_CERTS", "LD_PRELOAD"],
    ...["DYLD_INSERT_LIBRARIES", "npm_config_userconfig", "NPM_CONFIG_REGISTRY", "UV_INDEX_URL", "PIP_INDEX_URL"],
    ...["SSL_CERT_FILE", "XDG_CONFIG_HOME", "PATH"],
  ])("that sets %s is refused, and runs nothing", async (name) => {
    const evil = workspace.write("evil.cjs", 'console.log("evil runs")');
    workspace.write("evil.env", `FINE=1\n${name}="--require=${evil}"\n`);
    const { code, stdout, stderr } = await workspace.run("status", "-e", "evil.env");
    expect({ code, stdout }).toEqual({ code: 9, stdout: "" });
    expect(stderr).toContain(`-e evil.env: sets ${name}, which is not for the gateway`);
  });

  test("that names another config is refused, and runs none of its programs", async () => {
    await using elsewhere = new Workspace();
    const pwned = elsewhere.path("pwned");
    const program = JSON.stringify(`require("node:fs").writeFileSync(${JSON.stringify(pwned)}, "")`);
    elsewhere.write("evil.toml", `[[servers]]\nid = "evil"\ncommand = "node"\nargs = ["-e", ${program}]\n`);
    elsewhere.write("evil.env", `MGP_CONFIG_PATH=${elsewhere.path("evil.toml")}\n`);
    for (const words of [["list"], ["stdio"], ["up"]]) {
      expect(await elsewhere.run(...words, "-e", "evil.env")).toMatchObject({
        code: 9,
        stderr: expect.stringContaining("sets MGP_CONFIG_PATH"),
      });
    }
    expect(existsSync(pwned)).toBe(false);
  });
});

test("status says that nothing runs, and where it has looked", async () => {
  const url = `127.0.0.1:${await freePort()}`;
  expect(await workspace.run("status", "--url", url)).toMatchObject({
    code: 7,
    stderr: expect.stringContaining(`no gateway runs at http://${url}`),
  });
});

describe("show, read and prompt", () => {
  beforeAll(async () => {
    for (const id of ["hello", "every"]) await asRoot("grant", "root", id);
  });

  test("show what a tool takes, and its schema", async () => {
    const { stdout } = await asRoot("show", "hello.greet");
    expect(stdout).toMatch(/^hello\.greet, a tool of hello\n\nGreets someone by name\.\n/);
    expect(stdout).toMatch(/^Arguments:\n {2}name +string +required$/m);
    expect(stdout).toContain('Input schema:\n  {\n    "type": "object",');
    expect(JSON.parse((await asRoot("show", "every.args-prompt", "--json")).stdout)).toMatchObject({ kind: "prompt" });
    expect(await asRoot("show", "greet")).toMatchObject({
      code: 6,
      stderr: expect.stringContaining('did you mean "hello.greet"?'),
    });
  });

  test("print a resource as it is, text and bytes", async () => {
    const text = await asRoot("read", "demo://resource/static/document/architecture.md");
    expect(text).toMatchObject({ code: 0, stdout: expect.stringContaining("# Everything Server") });
    const bytes = await asRoot("read", "demo://resource/dynamic/blob/1");
    expect(bytes).toMatchObject({ code: 0, stdout: expect.stringContaining("Resource 1") });
    expect((await asRoot("read", "demo://nothing")).code).toBe(6);
  });

  test("fill in a prompt, and say what is missing", async () => {
    expect(await asRoot("prompt", "every.args-prompt", "city=Rome")).toMatchObject({
      code: 0,
      stdout: "user: What's weather in Rome?\n",
    });
    expect(await asRoot("prompt", "every.args-prompt")).toMatchObject({
      code: 6,
      stderr: expect.stringContaining('missing "city"'),
    });
  });
});

describe("a server in the config", () => {
  test("is disabled, enabled and removed by verbs, and a gateway that runs follows", async () => {
    await using place = new Workspace();
    const listen = await freePort();
    const text = `# mine\n[gateway]\nlisten = "127.0.0.1:${listen}"\n\n${scriptServer("hello", HELLO)}[servers.env]\nA = "1"\n\n# the other\n${scriptServer("every", EVERYTHING)}`;
    place.write("isthmus.toml", text);
    await place.serve("start", ["hello", "every"]);
    const status = async () => (await place.run("status")).stdout;
    expect(await place.run("disable", "hello")).toMatchObject({ code: 0 });
    await expect.poll(status, { timeout: 30_000 }).toMatch(/^ {2}hello +disabled$/m);
    expect((await fetch(`http://127.0.0.1:${listen}/hello/mcp`, { method: "POST" })).status).toBe(404);
    expect(await place.run("enable", "hello")).toMatchObject({ code: 0 });
    expect(place.read("isthmus.toml")).toBe(text);
    await expect.poll(status, { timeout: 30_000 }).toMatch(/^ {2}hello +ok/m);
    expect(await place.run("remove", "hello")).toMatchObject({ code: 0 });
    expect(place.read("isthmus.toml")).toBe(
      `# mine\n[gateway]\nlisten = "127.0.0.1:${listen}"\n\n# the other\n${scriptServer("every", EVERYTHING)}`,
    );
    await expect.poll(status, { timeout: 30_000 }).not.toContain("hello");
    expect(await place.run("remove", "evry")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean "every"?'),
    });
    expect(existsSync(place.path(".isthmus/.gitignore"))).toBe(true);
  });
});
