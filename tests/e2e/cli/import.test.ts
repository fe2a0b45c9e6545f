import { readdirSync, statSync } from "node:fs";
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
    const secret = workspace.path(".isthmus/secrets/My-GitHub-GITHUB_TOKEN");
    expect(statSync(secret).mode & 0o777).toBe(0o600);
    expect(statSync(workspace.path(".isthmus")).mode & 0o777).toBe(0o700);
    expect(await workspace.run("call", "My-GitHub.env", "name=GITHUB_TOKEN")).toMatchObject({ stdout: `${TOKEN}\n` });
    expect((await workspace.run("call", "hello.greet", "name=Ada")).stdout).toBe("Hello, Ada!\n");
    expect(workspace.read(CLAUDE)).toBe(client);
    const again = await workspace.run("import");
    expect(again.stdout).toContain("is in the config already");
    expect(workspace.read("isthmus.toml")).toBe(config);
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
    await workspace.run("import", "claude", "--connect", "url");
    expect(workspace.read(CLAUDE)).toContain('"url": "http://127.0.0.1:0/mcp"');
    workspace.write(CLAUDE, "{}");
    expect((await workspace.run("import", "claude", "--undo")).stdout).toContain("It had been changed since");
    expect(workspace.read(CLAUDE)).toBe(client);
    expect(workspace.read(`${CLAUDE}.before-undo`)).toBe("{}");
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
