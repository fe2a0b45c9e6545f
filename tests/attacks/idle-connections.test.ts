/** Holding as many connections as a process can have, without a credential and without a word. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { freePort } from "../e2e/identity/workspace.ts";
import { helloServer } from "../e2e/kit/gateway.ts";
import { ROOT } from "../e2e/kit/program.ts";
import { post, toolCall } from "../e2e/kit/rpc.ts";

/** Of open files. The files of Node alone are some 30. */
const LIMIT = 256;
const CONNECTIONS = 400;

const folders: string[] = [];
const children: ChildProcess[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const child of children.splice(0)) {
    child.kill("SIGTERM");
    await new Promise((resolve) => (child.exitCode === null ? child.once("close", resolve) : resolve(undefined)));
  }
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

type Started = { readonly port: number; readonly child: ChildProcess; log(): string };

/** `command`: how it is started; what stands in it is our own. */
async function start(command: string, limit = LIMIT): Promise<Started> {
  const folder = mkdtempSync(join(tmpdir(), "isthmus-idle-"));
  folders.push(folder);
  const port = await freePort();
  writeFileSync(join(folder, "isthmus.toml"), helloServer());
  const env = {
    PATH: `${join(process.execPath, "..")}:${process.env.PATH}`,
    HOME: folder,
  };
  const rest = `--config ${folder}/isthmus.toml --listen 127.0.0.1:${port} --json`;
  const child = spawn("/bin/sh", ["-c", `ulimit -n ${limit}; exec ${command} ${rest}`], { cwd: ROOT, env });
  children.push(child);
  let log = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      log += text;
    });
  await expect.poll(() => log, { timeout: 30_000 }).toMatch(/"servers":/);
  return { port, child, log: () => log };
}

function hold(port: number, said: string): Promise<void> {
  const socket = connect({ port, host: "127.0.0.1" });
  sockets.push(socket);
  return new Promise((resolve) => {
    socket.on("error", () => resolve()).on("close", () => resolve());
    socket.on("connect", () => {
      if (said !== "") socket.write(said);
      resolve();
    });
  });
}

async function greet({ port }: Started): Promise<string> {
  const answer = await post(`http://127.0.0.1:${port}/mcp`, toolCall(1, "hello.greet", { name: "Ann" }), {
    connection: "close",
  });
  return JSON.stringify(answer.messages.at(-1)?.result);
}

const DIRECT = `${process.execPath} dist/isthmus.js up`;
const BY_NPM = "npm start --";

test.each([
  ["that say nothing", DIRECT, ""],
  ["that say nothing, started by npm", BY_NPM, ""],
  ["that begin to say something", DIRECT, "G"],
  ["that begin to say something, started by npm", BY_NPM, "POST /mcp HTTP/1.1\r\nHost: "],
  ["that have had an answer", DIRECT, "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"],
])("connections %s end no gateway, and keep nobody out", async (_, command, said) => {
  const gateway = await start(command);
  for (let held = 0; held < CONNECTIONS; held += 20) {
    await Promise.all(Array.from({ length: 20 }, () => hold(gateway.port, said)));
    if (held % 100 === 0) expect(await greet(gateway)).toContain("Hello, Ann!");
  }
  // Four looks of what waits for npm.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(await greet(gateway)).toContain("Hello, Ann!");
  expect(gateway.child.exitCode).toBeNull();
  expect(gateway.log()).not.toContain("stopping");
  expect(gateway.log().match(/too many connections/g)).toHaveLength(1);
});

test("with few open files there is room for children and stores beside the connections", async () => {
  const gateway = await start(DIRECT, 64);
  for (let held = 0; held < CONNECTIONS; held += 20)
    await Promise.all(Array.from({ length: 20 }, () => hold(gateway.port, "")));
  expect(await greet(gateway)).toContain("Hello, Ann!");
  expect(gateway.log()).not.toMatch(/EMFILE|ENFILE|unable to open/);
  expect(gateway.log().match(/too many connections/g)).toHaveLength(1);
});
