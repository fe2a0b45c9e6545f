/** A gateway that listens elsewhere than its config says by now: verbs that find nobody at the new address say where it is. */
import { existsSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort, HELLO, scriptServer, Workspace } from "./workspace.ts";

type Finding = { level: string; what: string; found: string; advice?: string };

const MARK = ".isthmus/gateway.json";
const configOf = (port: number) => `[gateway]\nlisten = "127.0.0.1:${port}"\n${scriptServer("hello", HELLO)}`;

describe("while a gateway runs whose config names another address by now", () => {
  const workspace = new Workspace();
  let [before, after] = [0, 0];
  const said = () => `your gateway of this config still listens on 127.0.0.1:${before}; restart it to move it\n`;

  beforeAll(async () => {
    [before, after] = [await freePort(), await freePort()];
    workspace.write("isthmus.toml", configOf(before));
    await workspace.serve("up", ["hello"]);
    workspace.write("isthmus.toml", configOf(after));
  });
  afterAll(() => workspace[Symbol.asyncDispose]());

  test.each([
    ["status", 7],
    ["trace", 7],
    ["logs", 7],
    ["logs --follow", 7],
    ["sessions", 7],
    ["approvals", 7],
    ["approve --latest", 7],
    ["token list", 10],
    ["grant ada hello", 10],
    ["up", 10],
    ["list", 0],
    ["call hello.greet name=Ada", 0],
  ])("%s says where that gateway still listens", async (words, code) => {
    const run = await workspace.run(...words.split(" "));
    expect(run.stderr).toContain(`isthmus: ${said()}`);
    expect(run.code).toBe(code);
  });

  test("a verb that is told an address says nothing of the one in the config", async () => {
    const { code, stderr } = await workspace.run("status", "--url", `127.0.0.1:${after}`);
    expect([code, stderr]).toEqual([
      7,
      `isthmus: no gateway runs at http://127.0.0.1:${after} (ECONNREFUSED); "isthmus up" starts one\n`,
    ]);
  });

  test("doctor finds it a problem", async () => {
    const { code, stdout } = await workspace.run("doctor", "--json");
    expect(JSON.parse(stdout).findings).toContainEqual({
      level: "problem",
      what: "port",
      found: `127.0.0.1:${after} is free, and your gateway of this config still listens on 127.0.0.1:${before}`,
      advice: "restart it to move it",
    } satisfies Finding);
    expect(code).toBe(8);
  });

  test("a mark of a process that is gone, or of an address at which no such gateway is, is not believed", async () => {
    const mark = JSON.parse(workspace.read(MARK));
    // It says that it is a gateway, and cannot show whose.
    const impostor = createServer((_request, response) => response.end('{"name":"isthmus"}'));
    await new Promise<void>((resolve) => impostor.listen(0, "127.0.0.1", resolve));
    const gone = [
      { ...mark, pid: 4_194_305 },
      { ...mark, url: `http://127.0.0.1:${await freePort()}/mcp` },
      { ...mark, url: 7 },
      { ...mark, url: "file:///etc/hostname" },
      "nonsense",
      { ...mark, url: `http://127.0.0.1:${(impostor.address() as AddressInfo).port}/mcp` },
    ];
    for (const one of gone) {
      writeFileSync(workspace.path(MARK), JSON.stringify(one));
      const { stderr } = await workspace.run("status");
      expect(stderr).toMatch(/^isthmus: no gateway runs at .*; "isthmus up" starts one\n$/);
    }
    impostor.closeAllConnections();
    impostor.close();
    writeFileSync(workspace.path(MARK), JSON.stringify(mark));
    expect((await workspace.run("status")).stderr).toContain(said());
  });
});

test("a gateway that was given its address is said to be named by it", async () => {
  await using workspace = new Workspace();
  const [written, given] = [await freePort(), await freePort()];
  workspace.write("isthmus.toml", configOf(written));
  const { child, ended } = workspace.start(["up", "--listen", `127.0.0.1:${given}`]);
  await new Promise<void>((resolve) => child.stdout.on("data", (text) => text.includes("Stop with") && resolve()));
  expect((await workspace.run("status")).stderr).toContain(
    `your gateway of this config was started with another address, 127.0.0.1:${given}; name it with --url 127.0.0.1:${given}\n`,
  );
  expect(existsSync(workspace.path(MARK))).toBe(true);
  child.kill("SIGTERM");
  await ended;
  expect(existsSync(workspace.path(MARK))).toBe(false);
});

test("a gateway that keeps nothing in files leaves no mark", async () => {
  await using workspace = new Workspace();
  workspace.write("isthmus.toml", configOf(await freePort()));
  const { child } = workspace.start(["up", "--database", "memory:"]);
  await new Promise<void>((resolve) => child.stdout.on("data", (text) => text.includes("Stop with") && resolve()));
  expect(existsSync(workspace.path(MARK))).toBe(false);
});
