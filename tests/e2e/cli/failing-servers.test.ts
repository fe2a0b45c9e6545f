import { describe, expect, test } from "vitest";
import { until } from "../config/watching.ts";
import { startGateway } from "../kit/gateway.ts";
import { openSession, post } from "../kit/rpc.ts";
import { HELLO, scriptServer, Workspace } from "./workspace.ts";

describe("a server whose command is missing", () => {
  test("is logged in one line, however often it is tried again", async () => {
    await using gateway = await startGateway({ config: '[[servers]]\nid = "files"\ncommand = "npxx"\n' });
    const metrics = () => fetch(`${gateway.origin}/metrics`).then((response) => response.text());
    const starts = async () =>
      Number(/^isthmus_upstream_starts_total\{.*"files".*\} (\d+)$/m.exec(await metrics())?.[1]);
    await until(async () => (await starts()) >= 3 || undefined, "the third attempt");
    const lines = gateway.program.stderr.split("\n").filter((line) => line.includes("npxx"));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain("command not found (ENOENT)");
    expect(lines[0]).not.toContain("stack");
  });
});

test("up and list name a variable that is not set by its whole name, however long it is", async () => {
  await using workspace = new Workspace();
  const name = `TICKETS_${"OF_THE_SUPPORT_TEAM_".repeat(4)}TOKEN`;
  const table = `[[servers]]\nid = "tickets"\nurl = "http://127.0.0.1:9/mcp"\n[servers.headers]\nX-Key = { fromEnv = "${name}" }\n`;
  workspace.write("isthmus.toml", `[gateway]\nlisten = "127.0.0.1:0"\n${table}${scriptServer("hello", HELLO)}`);
  const { child } = workspace.start(["up"]);
  let [printed, summary] = ["", ""];
  for await (const chunk of child.stdout) {
    printed += chunk;
    summary = printed.slice(printed.indexOf("Isthmus listens on"));
    if (summary.includes("Stop with")) break;
  }
  expect(summary).toContain(name);
  const url = /listens on (\S+)/.exec(summary)?.[1] ?? "";
  const listed = await workspace.run("list", "--url", url);
  expect(listed.stdout).toContain(name);
});

/** What Node writes when a program throws, and what npm adds. */
const DYING = `
console.error("npm notice New major version of npm available!");
throw new Error("TICKETS_URL is not a URL");
`;

describe("a server that dies", () => {
  test("is quoted by list, line by line that says something, whether a gateway runs or not", async () => {
    await using workspace = new Workspace();
    workspace.write("dying.mjs", DYING);
    const dying = `[[servers]]\nid = "dying"\ncommand = ${JSON.stringify(process.execPath)}\nargs = ["dying.mjs"]\n`;
    workspace.write("isthmus.toml", `[gateway]\nlisten = "127.0.0.1:0"\n${dying}${scriptServer("hello", HELLO)}`);
    const quoted =
      /^ {2}dying {2}unreachable {2}exited with code 1\n {4}it wrote: Error: TICKETS_URL is not a URL\n\n/m;
    expect((await workspace.run("list")).stdout).toMatch(quoted);
    const { child } = workspace.start(["up", "--json"]);
    const line = await new Promise<string>((resolve) => child.stdout.once("data", (text) => resolve(String(text))));
    const { url } = JSON.parse(line) as { url: string };
    expect((await workspace.run("list", "--url", url)).stdout).toMatch(quoted);
    const { stdout } = await workspace.run("list", "--url", url, "--json");
    expect(JSON.parse(stdout).servers.dying).toMatchObject({ lastWords: ["Error: TICKETS_URL is not a URL"] });
  });

  test("is quoted by status, and in its line by up", async () => {
    await using workspace = new Workspace();
    workspace.write("dying.mjs", DYING);
    const dying = `[[servers]]\nid = "dying"\ncommand = ${JSON.stringify(process.execPath)}\nargs = ["dying.mjs"]\n`;
    workspace.write("isthmus.toml", `[gateway]\nlisten = "127.0.0.1:0"\n${dying}`);
    const { child } = workspace.start(["up"]);
    let printed = "";
    for await (const chunk of child.stdout) {
      printed += chunk;
      if (printed.includes("Stop with")) break;
    }
    const said = "it wrote: Error: TICKETS_URL is not a URL";
    const summary = printed.slice(printed.indexOf("Isthmus listens on")).replace(/\s+/g, " ");
    expect(summary).toContain(`dying unreachable exited with code 1 ${said}`);
    const url = /listens on (\S+)/.exec(printed)?.[1] ?? "";
    const { stdout } = await workspace.run("status", "--url", url);
    expect(stdout).toContain(`    exited with code 1\n    ${said}\n`);
  });

  test("is quoted without the secrets that it was given", async () => {
    await using workspace = new Workspace();
    workspace.write("dying.mjs", "throw new Error(`no access with ${process.env.TICKETS_KEY}`);\n");
    const env = '[servers.env]\nTICKETS_KEY = { fromEnv = "TICKETS_KEY" }\n';
    const dying = `[[servers]]\nid = "dying"\ncommand = ${JSON.stringify(process.execPath)}\nargs = ["dying.mjs"]\n${env}`;
    workspace.write("isthmus.toml", `[gateway]\nlisten = "127.0.0.1:0"\n${dying}`);
    for (const verb of ["list", "doctor"]) {
      const { stdout, stderr } = await workspace.start([verb], { TICKETS_KEY: "planted-7f3a9c" }).ended;
      expect(stdout.replace(/\s+/g, " ")).toContain("no access with [secret]");
      expect(stdout + stderr).not.toContain("planted-7f3a9c");
    }
  });

  test("is not quoted to callers", async () => {
    await using workspace = new Workspace();
    const script = workspace.write("dying.mjs", DYING);
    const table = `[[servers]]\nid = "dying"\ncommand = ${JSON.stringify(process.execPath)}\nargs = ["${script}"]\n`;
    await using gateway = await startGateway({ config: table });
    const session = await openSession(gateway.url);
    const { messages } = await post(gateway.url, { id: 1, method: "tools/list" }, session);
    expect(JSON.stringify(messages)).toContain("exited with code 1");
    expect(JSON.stringify(messages)).not.toContain("TICKETS_URL");
  });
});
