import { chmodSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../kit/program.ts";
import { HELLO, ODD, Workspace } from "./workspace.ts";

const CLAUDE = ".config/Claude/claude_desktop_config.json";
const TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

/** Six servers, two of them broken, as people have them: comments, a trailing comma, tabs. */
const client = `{
\t// what I use every day
\t"mcpServers": {
\t\t"hello": { "command": ${JSON.stringify(process.execPath)}, "args": [${JSON.stringify(join(ROOT, HELLO))}] },
\t\t"My GitHub!": { "command": ${JSON.stringify(process.execPath)}, "args": [${JSON.stringify(join(ROOT, ODD))}], "env": { "GITHUB_TOKEN": "${TOKEN}", "LOG_LEVEL": "debug" } },
\t\t"remote": { "url": "http://127.0.0.1:9/mcp", "headers": { "Authorization": "Bearer abc" } },
\t\t"missing": { "command": "/no/such/program" },
\t\t"crashes": { "command": ${JSON.stringify(process.execPath)}, "args": ["-e", "process.exit(1)"] },
\t\t"parked": { "command": "x", "disabled": true },
\t},
\t"globalShortcut": "Alt+Space"
}
`;

function workspaceWithClaude(): Workspace {
  const workspace = new Workspace();
  workspace.write("isthmus.toml", '[gateway]\nlisten = "127.0.0.1:0"\n');
  workspace.write(CLAUDE, client);
  return workspace;
}

describe("import", () => {
  test("takes over the servers, and their secrets work at once without standing in the config", async () => {
    await using workspace = workspaceWithClaude();
    const { code, stdout } = await workspace.run("import", "claude");
    expect(code).toBe(0);
    expect(stdout).toMatch(/ {2}added +My GitHub! /);
    expect(stdout).toMatch(/ {2}skipped +parked +is disabled there/);
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(120);
    const config = workspace.read("isthmus.toml");
    expect(config).not.toContain(TOKEN);
    expect(config).not.toContain("Bearer abc");
    const secret = workspace.path(".isthmus/secrets/My-GitHub/GITHUB_TOKEN");
    expect(statSync(secret).mode & 0o777).toBe(0o600);
    expect(statSync(workspace.path(".isthmus")).mode & 0o777).toBe(0o700);
    expect(await workspace.run("call", "My-GitHub.env", "name=GITHUB_TOKEN")).toMatchObject({ stdout: `${TOKEN}\n` });
    expect((await workspace.run("call", "hello.greet", "name=Ada")).stdout).toBe("Hello, Ada!\n");
    expect(workspace.read(CLAUDE)).toBe(client);
    const again = await workspace.run("import");
    expect(again.stdout).toContain("is in the config already");
    expect(workspace.read("isthmus.toml")).toBe(config);
  });

  test("leaves secrets where they are when their server is removed, and says where", async () => {
    await using workspace = workspaceWithClaude();
    await workspace.run("import", "claude");
    const { code, stdout } = await workspace.run("remove", "My-GitHub");
    expect([code, stdout.split("\n").slice(1)]).toEqual([
      0,
      ["Its secret stays in ~/.isthmus/secrets/My-GitHub/GITHUB_TOKEN; delete it if nothing else needs it.", ""],
    ]);
    expect(workspace.read(".isthmus/secrets/My-GitHub/GITHUB_TOKEN")).toBe(`${TOKEN}\n`);
    expect((await workspace.run("remove", "hello")).stdout).not.toContain("stay");
  });

  test("leaves variables with a default alive in what starts a server", async () => {
    await using workspace = new Workspace();
    workspace.write("isthmus.toml", '[gateway]\nlisten = "127.0.0.1:0"\n');
    const script = join(ROOT, HELLO);
    const hello = { command: "${RUN_WITH:-/no/such/program}", args: [`\${SCRIPT:-${script}}`] };
    workspace.write(CLAUDE, JSON.stringify({ mcpServers: { hello } }));
    const { code } = await workspace.start(["import", "claude"], { SCRIPT: "/not/this/time" }).ended;
    expect(code).toBe(0);
    const greet = (env: Readonly<Record<string, string>>) =>
      workspace.start(["call", "hello.greet", "name=Ada"], env).ended;
    expect(await greet({ RUN_WITH: process.execPath })).toMatchObject({ code: 0, stdout: "Hello, Ada!\n" });
    expect((await greet({})).code).not.toBe(0);
  });

  test("shows what it would write, and writes nothing", async () => {
    await using workspace = workspaceWithClaude();
    const before = workspace.read("isthmus.toml");
    const { stdout } = await workspace.run("import", "claude", "--connect", "--dry-run");
    expect(stdout).toContain('id = "My-GitHub"');
    expect(stdout).toContain('"isthmus": {');
    expect(stdout).toContain("Nothing was written.");
    expect(stdout).not.toContain(TOKEN);
    expect(workspace.read("isthmus.toml")).toBe(before);
    expect(workspace.read(CLAUDE)).toBe(client);
    expect(readdirSync(workspace.folder).toSorted()).toEqual([".config", "isthmus.toml"]);
  });

  test.each([[[]], [["--json"]]])("shows no secret of any kind in a dry run (%j)", async (more) => {
    await using workspace = new Workspace();
    const secrets = [
      "sk-live-arg-aaaa",
      "inline-bbbb",
      "pw-cccc",
      "key-dddd",
      "sk-default-eeee",
      "ghp_parkedffff",
      "gggg-rest",
    ];
    const [arg, inline, password, key, fallback, parked, rest] = secrets;
    const mcpServers = {
      one: { command: "x", args: ["--api-key", arg, `--token=${inline}`, `postgres://u:${password}@h/db`] },
      two: { url: `https://a.test/mcp?api_key=${key}`, headers: { Authorization: `Bearer \${T:-${fallback}}` } },
      parked: { command: "x", disabled: true, env: { TOKEN: parked } },
    };
    workspace.write("client.json", JSON.stringify({ mcpServers, oauthToken: rest }));
    const { stdout, code } = await workspace.run("import", "client.json", "--connect", "--dry-run", ...more);
    expect(code).toBe(0);
    expect(secrets.filter((secret) => stdout.includes(secret))).toEqual([]);
    expect(stdout).toContain("[secret]");
  });

  test("says that the folder of secrets cannot be made, and writes nothing", async () => {
    await using workspace = workspaceWithClaude();
    workspace.write("client.json", client);
    chmodSync(workspace.folder, 0o555);
    const { code, stderr } = await workspace.runAsNobody("import", "client.json");
    chmodSync(workspace.folder, 0o755);
    expect([code, stderr]).toEqual([
      9,
      expect.stringMatching(/^isthmus: \S*secrets\/\S+: cannot be made \(EACCES\); [^\n]+\n$/),
    ]);
    expect(readdirSync(workspace.folder)).not.toContain(".isthmus");
  });

  test("says in whole sentences that there is nothing to undo", async () => {
    await using workspace = workspaceWithClaude();
    expect((await workspace.run("import", "--undo")).stderr).toBe(
      "isthmus: no client's file was pointed at Isthmus by import --connect (there is no backup beside it), so there is nothing to undo\n",
    );
  });

  test("points the client at Isthmus, and takes it back byte for byte", async () => {
    await using workspace = workspaceWithClaude();
    const { code, stdout } = await workspace.run("import", "claude", "--connect");
    expect(code).toBe(0);
    expect(stdout).toContain("now points at Isthmus");
    const after = workspace.read(CLAUDE);
    expect(after).toContain("// what I use every day");
    const { mcpServers, globalShortcut } = JSON.parse(after.replace(/\/\/.*$/m, ""));
    expect(globalShortcut).toBe("Alt+Space");
    expect(Object.keys(mcpServers)).toEqual(["isthmus", "parked"]);
    expect(mcpServers.isthmus.args).toEqual(expect.arrayContaining(["stdio", workspace.path("isthmus.toml")]));
    expect((await workspace.run("import", "claude")).stdout).toMatch(/skipped +isthmus +is this gateway/);
    const { stdout: undone } = await workspace.run("import", "--undo", "--json");
    expect(JSON.parse(undone)).toEqual({ undone: [{ file: workspace.path(CLAUDE) }] });
    expect(workspace.read(CLAUDE)).toBe(client);
    expect(readdirSync(workspace.path(".config/Claude"))).toEqual(["claude_desktop_config.json"]);
    expect(await workspace.run("import", "--undo")).toMatchObject({ code: 9, stdout: "" });
  });

  test("gives the address where that is wanted, and keeps a later change of the file when undoing", async () => {
    await using workspace = workspaceWithClaude();
    const cursor = ".cursor/mcp.json";
    workspace.write(cursor, client);
    await workspace.run("import", cursor, "--connect", "url");
    expect(workspace.read(cursor)).toContain('"url": "http://127.0.0.1:0/mcp"');
    workspace.write(cursor, "{}");
    expect((await workspace.run("import", cursor, "--undo")).stdout).toContain("It had been changed since");
    expect(workspace.read(cursor)).toBe(client);
    expect(workspace.read(`${cursor}.before-undo`)).toBe("{}");
  });

  test("gives Claude Desktop no address, which it does not read, and changes nothing then", async () => {
    await using workspace = workspaceWithClaude();
    const before = workspace.read("isthmus.toml");
    const { code, stdout: printed, stderr } = await workspace.run("import", "claude", "--connect", "url");
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /Claude Desktop starts every server that its file names.*\n.*mcp-remote.*\n.*--connect alone/,
    );
    const bridge = { command: "npx", args: ["-y", "mcp-remote", "http://127.0.0.1:0/mcp"] };
    expect(JSON.parse(printed)).toEqual({ mcpServers: { isthmus: bridge } });
    expect(workspace.read(CLAUDE)).toBe(client);
    expect(workspace.read("isthmus.toml")).toBe(before);
    workspace.write("pasted.json", printed);
    expect((await workspace.run("import", "pasted.json")).stdout).toMatch(/skipped +isthmus +is this gateway/);
    const { stdout } = await workspace.run("import", "claude", "--connect");
    expect(stdout).toContain("[gate] in the config says which do");
    expect(stdout).not.toContain("--connect url");
  });

  test("takes over a server of a name that another one has, and the same one only once", async () => {
    await using workspace = new Workspace();
    const files = (folder: string) => ({ filesystem: { command: "npx", args: ["-y", "files", folder] } });
    workspace.write(CLAUDE, JSON.stringify({ mcpServers: files("/tmp/a") }));
    workspace.write(".config/Code/User/mcp.json", JSON.stringify({ servers: files("/tmp/b") }));
    workspace.write(".cursor/mcp.json", JSON.stringify({ mcpServers: files("/tmp/b") }));
    await workspace.run("import", "claude");
    const { stdout } = await workspace.run("import", "vscode", "--connect");
    expect(stdout).toMatch(/added +filesystem +npx -y files \/tmp\/b\n +is called "filesystem-2" here/);
    expect(workspace.read("isthmus.toml").match(/"\/tmp\/[ab]"/g)).toEqual(['"/tmp/a"', '"/tmp/b"']);
    const again = await workspace.run("import", ".cursor/mcp.json");
    expect(again.stdout).toContain('is in the config already as "filesystem-2"');
    expect(again.stdout).toContain("has them all");
    workspace.write("off.json", JSON.stringify({ mcpServers: { off: { command: "x", disabled: true } } }));
    const { stdout: nothing } = await workspace.run("import", "off.json");
    expect(nothing).toContain("Nothing was added");
    expect(nothing).not.toContain("has them all");
  });

  test("reads a file of VS Code and a server.json, and says what is wrong with others", async () => {
    await using workspace = new Workspace();
    workspace.write(".vscode/mcp.json", '{ "servers": { "code": { "type": "http", "url": "https://a.test/mcp" } } }');
    workspace.write(
      "server.json",
      '{"name":"io.x/weather","version":"1","packages":[{"registryType":"npm","identifier":"w"}]}',
    );
    workspace.write("broken.json", '{ "mcpServers": [');
    workspace.write("other.json", "{}");
    expect(JSON.parse((await workspace.run("import", "vscode", "--json")).stdout).added).toEqual(["code"]);
    expect(JSON.parse((await workspace.run("import", "server.json", "--json")).stdout).added).toEqual(["weather"]);
    expect(workspace.read("isthmus.toml")).toContain('args = ["-y", "w@1"]');
    expect(await workspace.run("import", "broken.json")).toMatchObject({
      code: 9,
      stderr: expect.stringContaining("is no JSON, line 1"),
    });
    expect(await workspace.run("import", "other.json")).toMatchObject({
      code: 9,
      stderr: expect.stringContaining("has no servers"),
    });
    expect(await workspace.run("import", "cursr")).toMatchObject({
      code: 9,
      stderr: expect.stringContaining('"cursor"'),
    });
    workspace.write(".mcp.json", "{");
    const all = await workspace.run("import");
    expect(all).toMatchObject({ code: 0, stderr: expect.stringMatching(/\.mcp\.json: is no JSON.*it is left out/) });
    expect(await workspace.run("import", "server.json", "--connect")).toMatchObject({ code: 2 });
  });
});
