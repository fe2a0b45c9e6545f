/** Connecting over TLS again and again without ever coming through a handshake. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { Workspace } from "../e2e/identity/workspace.ts";
import { helloServer } from "../e2e/kit/gateway.ts";
import { pathOf } from "../needs/need.ts";
import { openssl } from "../needs/programs.ts";
import { Crowd } from "./kit/crowd.ts";

const OPEN_FILES = 256;
const CONNECTIONS = 300;
const CALLS = 10;
const CONFIG = `[gateway.tls]\ncert = "own.crt"\nkey = "own.key"\n${helloServer()}`;

function makeCertificate(folder: string): void {
  const [key, cert] = [join(folder, "own.key"), join(folder, "own.crt")];
  const names = ["-subj", "/CN=own", "-addext", "subjectAltName=IP:127.0.0.1"];
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30"];
  const args = ["req", "-x509", ...kind, ...names, "-keyout", key, "-out", cert];
  execFileSync(pathOf(openssl), args, { stdio: ["ignore", "ignore", "ignore"] });
}

/** On a connection of its own: the status, or what went wrong. */
function ask(origin: string, agent: Agent): Promise<number | string> {
  return new Promise((resolve) => {
    const sent = request(new URL("/healthz", origin), { agent, headers: { connection: "close" } }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? 0));
    });
    sent.on("error", (error) => resolve(String(error))).end();
  });
}

test.each([
  ["say nothing", ""],
  ["begin a handshake and do not go on", "\x16\x03\x01\x00\xff"],
])("connections over TLS that %s keep nobody out", async (_, said) => {
  await using place = new Workspace(CONFIG);
  makeCertificate(place.folder);
  const origin = await place.up("127.0.0.1:0", {}, OPEN_FILES);
  const agent = new Agent({ ca: readFileSync(join(place.folder, "own.crt")), keepAlive: false });
  const { hostname: host, port } = new URL(origin);
  const open = () => connect({ host, port: Number(port) });
  using crowd = new Crowd({ connections: CONNECTIONS, open, first: () => said, againMs: () => 1_000 * Math.random() });
  await expect.poll(() => crowd.size).toBeGreaterThan(20);
  await wait(1_000);
  const heard: (number | string)[] = [];
  for (let count = 0; count < CALLS; count++) {
    heard.push(await ask(origin, agent));
    await wait(100);
  }
  expect(heard).toEqual(Array(CALLS).fill(200));
});
