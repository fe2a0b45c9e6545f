import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { EXIT_CODES } from "../../../src/cli/exit-codes.ts";
import { clientVerbs } from "../cli/client-verbs.ts";
import { freePort, HELLO, scriptServer, Workspace } from "../cli/workspace.ts";
import { startGateway } from "../kit/gateway.ts";
import { ROOT, runProgram } from "../kit/program.ts";
import { echoServer, Rig } from "./rig.ts";
import { until } from "./watching.ts";

const UNSET = '[servers.env]\nTOKEN = { fromEnv = "NOT_SET_ANYWHERE" }';
const NO_FILE = '[servers.env]\nTOKEN = { fromFile = "gone" }';

describe("a server that names a variable that is not set", () => {
  test("is invalid and says which, while the other servers run", async () => {
    const config = echoServer("first") + echoServer("broken", [], UNSET) + echoServer("last");
    await using gateway = await startGateway({ config });
    expect(gateway.servers).toMatchObject([
      { id: "first", status: "ok" },
      {
        id: "broken",
        status: "invalid",
        message: expect.stringMatching(/servers\.broken\.env\.TOKEN.*"NOT_SET_ANYWHERE"/),
      },
      { id: "last", status: "ok" },
    ]);
  });

  test("is invalid after a reload, and the rest of the new config is taken over", async () => {
    await using rig = await Rig.start(echoServer("p"));
    rig.replace("isthmus.toml", echoServer("p") + echoServer("broken", [], UNSET) + echoServer("new"));
    await rig.untilTool("new.who");
    const { servers } = (await (await fetch(`${rig.gateway.origin}/readyz`)).json()) as { servers: object };
    expect(servers).toEqual({ p: "ok", broken: "invalid", new: "ok" });
    expect(await rig.reloads("refused")).toBe(0);
  });

  test("is what doctor finds, with what to do, and tries the others", async () => {
    await using workspace = new Workspace();
    workspace.write(
      "isthmus.toml",
      `[gateway]\nlisten = "127.0.0.1:0"\n${echoServer("broken", [], UNSET)}${scriptServer("hello", HELLO)}`,
    );
    const { code, stdout } = await workspace.run("doctor", "--json");
    expect(code).toBe(8);
    const findings: { what: string }[] = JSON.parse(stdout).findings;
    expect(findings.find(({ what }) => what === "servers.hello")).toMatchObject({ level: "ok" });
    expect(findings.find(({ what }) => what === "servers.broken")).toMatchObject({
      level: "problem",
      found: expect.stringContaining('"NOT_SET_ANYWHERE" is not set'),
      advice: expect.stringContaining("set it where the gateway is started"),
    });
  });

  test("is shown by status with the whole reason, however narrow the terminal, and with who knows more", async () => {
    await using workspace = new Workspace();
    const listen = `127.0.0.1:${await freePort()}`;
    workspace.write("isthmus.toml", `[gateway]\nlisten = "${listen}"\n${echoServer("broken", [], UNSET)}`);
    await workspace.serve("up", []);
    const command = `stty cols 60; '${process.execPath}' '${join(ROOT, "dist/isthmus.js")}' status`;
    const options = {
      cwd: workspace.folder,
      env: { PATH: process.env.PATH ?? "", TERM: "xterm", SHELL: "/bin/sh", HOME: workspace.folder },
      encoding: "utf8",
    } as const;
    const shown = execFileSync("script", ["-qec", command, "/dev/null"], options).replaceAll("\r", "");
    expect(shown.replace(/\s+/g, " ")).toContain('the environment variable "NOT_SET_ANYWHERE" is not set');
    expect(shown).toContain('"isthmus doctor" says what to do about it.');
    expect(Math.max(...shown.split("\n").map((line) => line.length))).toBeLessThanOrEqual(60);
  });

  test("does not keep list from showing what the others offer", async () => {
    await using workspace = new Workspace();
    workspace.write(
      "isthmus.toml",
      `[gateway]\nlisten = "127.0.0.1:0"\n${echoServer("broken", [], UNSET)}${scriptServer("hello", HELLO)}`,
    );
    const { code, stdout } = await workspace.run("list");
    expect(code).toBe(0);
    expect(stdout).toContain("hello.greet");
    expect(stdout).toMatch(/^ {2}broken {2}invalid {2}servers\.broken\.env\.TOKEN/m);
  });
});

describe("a header that cannot be sent", () => {
  const remote = (headers: string) => `[[servers]]\nid = "remote"\nurl = "http://127.0.0.1:9/mcp"\n${headers}\n`;

  test("in the config stops the start with its place and what is expected, and no stack", async () => {
    const config = `${echoServer("p")}${remote('headers."X-Bad\\n" = "hunter2"')}`;
    const { code, stderr } = await runProgram(["up", "--listen", "127.0.0.1:0"], { config });
    expect(code).toBe(3);
    expect(stderr).toMatch(/isthmus\.toml:\d+: servers\.remote\.headers\.X-Bad.*expected the name of a header/);
    expect(stderr).not.toMatch(/hunter2|\n {4}at /);
  });

  test("that a variable makes so makes its server invalid, and the others run", async () => {
    const config = echoServer("p") + remote('headers.Authorization = "Bearer ${BAD_TOKEN}"');
    await using gateway = await startGateway({ config, env: { BAD_TOKEN: "hunter2\nX: y" } });
    expect(gateway.servers).toMatchObject([
      { id: "p", status: "ok" },
      { id: "remote", status: "invalid", message: expect.stringContaining("headers.Authorization: what it refers to") },
    ]);
    expect(JSON.stringify(gateway.servers)).not.toContain("hunter2");
  });
});

describe("a server whose secret is in a file that is not there", () => {
  test("is invalid until the file comes, and then runs", async () => {
    await using rig = await Rig.start(echoServer("p") + echoServer("late", [], NO_FILE));
    expect(rig.gateway.servers).toMatchObject([
      { status: "ok" },
      { status: "invalid", message: expect.stringContaining('"gone"') },
    ]);
    rig.replace("gone", "found\n");
    await rig.untilTool("late.who");
    expect((await rig.who("late")).token).toBe("found");
  });
});

test("a variable that is not set and guards the gateway itself still stops it", async () => {
  const config = `[gateway]\nsealKey = { fromEnv = "NOT_SET_ANYWHERE" }\n${echoServer("p")}`;
  const { code, stderr } = await runProgram(["up", "--listen", "127.0.0.1:0"], { config });
  expect(code).toBe(3);
  expect(stderr).toContain('gateway.sealKey: the environment variable "NOT_SET_ANYWHERE" is not set');
});

/** With these a verb ends that a gateway has answered, be it that there is no such thing. */
const ANSWERED = [EXIT_CODES.ok.code, EXIT_CODES.failure.code, EXIT_CODES.callFailed.code];

describe("a verb in a shell that knows no secret of the gateway", () => {
  test("does what it does in one that knows them all", { timeout: 120_000 }, async () => {
    await using workspace = new Workspace();
    const listen = `127.0.0.1:${await freePort()}`;
    const config = `[gateway]
listen = "${listen}"
[audit]
[telemetry]
otlp = "http://127.0.0.1:9"
headers.Authorization = { fromEnv = "COLLECTOR_KEY" }
${scriptServer("hello", HELLO)}[servers.env]
KEY = { fromEnv = "HELLO_KEY" }
${echoServer("broken", [], UNSET)}`;
    workspace.write("isthmus.toml", config);
    const secrets = { COLLECTOR_KEY: "key", HELLO_KEY: "key" };
    const { child } = workspace.start(["up"], secrets);
    let shown = "";
    child.stdout.on("data", (text) => {
      shown += text;
    });
    await until(() => shown.includes("Stop with") || undefined, "the summary");
    const codes = async (env: Readonly<Record<string, string>>) => {
      const found: Record<string, number | null> = {};
      for (const words of clientVerbs()) found[words.join(" ")] = (await workspace.start(words, env).ended).code;
      return found;
    };
    const known = await codes(secrets);
    const silent = Object.entries(known).filter(([, code]) => !ANSWERED.some((one) => one === code));
    expect(silent, "a verb that did not reach the gateway shows nothing").toEqual([]);
    expect(await codes({})).toEqual(known);
    // What starts a server needs all of it.
    expect(await workspace.run("up", "--listen", "127.0.0.1:0")).toMatchObject({ code: 3 });
  });
});
