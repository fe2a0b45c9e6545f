/** Holding as many connections as a process can have, without a credential and without a word. */
import { connect, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { helloServer } from "../e2e/kit/gateway.ts";
import { DIRECT, greet, startWithFewFiles } from "./kit/few-files.ts";

/** Of open files. The files of Node alone are some 30. */
const LIMIT = 256;
const CONNECTIONS = 400;

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

const start = (command: string, limit = LIMIT) => startWithFewFiles(command, limit, helloServer());

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

const BY_NPM = "npm start --";

test.each([
  ["that say nothing", DIRECT, ""],
  ["that say nothing, started by npm", BY_NPM, ""],
  ["that begin to say something", DIRECT, "G"],
  ["that begin to say something, started by npm", BY_NPM, "POST /mcp HTTP/1.1\r\nHost: "],
  ["that have had an answer", DIRECT, "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"],
])("connections %s end no gateway, and keep nobody out", async (_, command, said) => {
  await using gateway = await start(command);
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
  await using gateway = await start(DIRECT, 64);
  for (let held = 0; held < CONNECTIONS; held += 20)
    await Promise.all(Array.from({ length: 20 }, () => hold(gateway.port, "")));
  expect(await greet(gateway)).toContain("Hello, Ann!");
  expect(gateway.log()).not.toMatch(/EMFILE|ENFILE|unable to open/);
  expect(gateway.log().match(/too many connections/g)).toHaveLength(1);
});
