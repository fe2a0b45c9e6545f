import { createHash, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../kit/eventually.ts";
import { operatorToken } from "../kit/operator.ts";
import { ROOT } from "../kit/program.ts";
import { post, toolCall } from "../kit/rpc.ts";
import { SHORT_LEASE_MS, startCluster, type TestCluster } from "../processes/cluster.ts";
import { type Api, apiAt, makeToken } from "./api.ts";

const SERVER = join(ROOT, "tests/e2e/config/echo-server.mjs");
const FEED = generateKeyPairSync("ed25519");
const table = (id: string) => `[[servers]]
id = "${id}"
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(SERVER)}]
`;
const AUTH = `[access]
defaultPolicy = "opt-out"

[auth]
tokens = true
local = true

[[auth.revocationFeeds]]
id = "hub"
keys = ["""
${FEED.publicKey.export({ type: "spki", format: "pem" })}"""]

`;
const PROCESSES = [0, 1, 2];

let cluster: TestCluster;
let api: Api;

beforeAll(async () => {
  cluster = await startCluster({
    servers: `${AUTH}${table("echo")}${table("other")}`,
    gateways: PROCESSES.length,
    leaseMs: SHORT_LEASE_MS,
  });
  api = apiAt(cluster.fleet.origin(0), operatorToken());
}, 60_000);
afterAll(() => cluster?.[Symbol.asyncDispose]());

const hashOf = (token: string) => createHash("sha256").update(token).digest("hex");

/** Somebody with a token and a session. */
class Person {
  readonly token: string;
  #session: Record<string, string> = {};
  #lastId = 1;

  private constructor(token: string) {
    this.token = token;
  }

  static async arrive(more: object = {}, url = cluster.url(0)): Promise<Person> {
    const { token } = await makeToken(api, { user: randomUUID(), ...more });
    const person = new Person(token);
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "e2e", version: "1" } };
    const { headers } = await post(url, { id: 0, method: "initialize", params }, person.headers);
    person.#session = { "mcp-session-id": headers.get("mcp-session-id") ?? "", "mcp-protocol-version": "2025-11-25" };
    return person;
  }

  get session(): string {
    return this.#session["mcp-session-id"] ?? "";
  }

  get headers(): Record<string, string> {
    return { authorization: `Bearer ${this.token}`, ...this.#session };
  }

  list(process: number) {
    return post(cluster.url(process), { id: 1, method: "tools/list" }, this.headers);
  }

  call(process: number, name: string, args: object = {}) {
    return post(cluster.url(process), toolCall(++this.#lastId, name, args), this.headers);
  }

  stream(process: number): Promise<Response> {
    return fetch(cluster.url(process), { headers: { ...this.headers, accept: "text/event-stream" } });
  }

  /** What each process answers, in their order. */
  async statuses(): Promise<number[]> {
    return (await Promise.all(PROCESSES.map((process) => this.list(process)))).map(({ status }) => status);
  }
}

const everywhere = (status: number) => (all: number[]) => all.every((one) => one === status);

describe("a revoked client", () => {
  test("is refused by every process, its stream ends and its call, and others go on [AP-138] [AP-140] [AP-141] [AP-142]", async () => {
    const [eve, bob] = [await Person.arrive(), await Person.arrive()];
    expect([await eve.statuses(), await bob.statuses()]).toEqual([
      [200, 200, 200],
      [200, 200, 200],
    ]);
    const stream = (await eve.stream(1)).text().catch(() => "cut");
    const call = eve.call(2, "echo.wait", { ms: 25_000 }).catch((error: unknown) => String(error));
    const isRunning = async () =>
      JSON.stringify(await Promise.all(PROCESSES.map((one) => apiAt(cluster.fleet.origin(one))("GET", "/api/calls"))));
    expect(await eventually(isRunning, (text) => text.includes('"echo/wait"'))).toContain('"echo/wait"');
    const revoked = await api("POST", "/api/revocations", {
      type: "client",
      hash: hashOf(eve.token),
      reason: "stolen",
    });
    expect(revoked.status).toBe(201);
    // Well before a process looks by itself: they were told.
    expect(await eventually(() => eve.statuses(), everywhere(401), 1_500)).toEqual([401, 401, 401]);
    const refused = await eve.list(1);
    expect(refused.headers.get("www-authenticate")).toContain('error="invalid_token"');
    await stream;
    const ended = await call;
    expect(typeof ended === "string" ? ended : JSON.stringify(ended.messages)).not.toContain('"pid"');
    expect(await bob.statuses()).toEqual([200, 200, 200]);
    // Nothing of its session is left in the store.
    expect(
      await eventually(
        () => keysWith(eve.session),
        (keys) => keys.length === 0,
      ),
    ).toEqual([]);
    expect(await keysWith(bob.session)).not.toEqual([]);
  });

  test("is refused by a process that starts later, and let in again once it is unblocked", async () => {
    const eve = await Person.arrive();
    await api("POST", "/api/revocations", { type: "client", hash: hashOf(eve.token) });
    await cluster.fleet.kill(1);
    await cluster.fleet.start(1);
    expect((await eve.list(1)).status).toBe(401);
    expect((await api("DELETE", `/api/orgs/default/blocks/${hashOf(eve.token)}`)).status).toBe(204);
    const open = () => Promise.all(PROCESSES.map((process) => initialize(process, eve.token)));
    expect(await eventually(open, everywhere(200))).toEqual([200, 200, 200]);
  });
});

test("a machine revokes by a signed message, without any other credentials [AP-138]", async () => {
  const eve = await Person.arrive({ user: "eve" });
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = { type: "user", id: "eve", reason: "left", jti: randomUUID(), iat: Math.floor(Date.now() / 1000) };
  const text = `${encode({ typ: "isthmus-revocation+jwt", alg: "EdDSA" })}.${encode(claims)}`;
  const jws = `${text}.${sign(null, Buffer.from(text), FEED.privateKey).toString("base64url")}`;
  const stranger = apiAt(cluster.fleet.origin(2), "not-a-token");
  expect((await stranger("POST", "/api/revocations/signed", { jws: `${jws.slice(0, -4)}AAAA` })).status).toBe(401);
  expect(await eve.statuses()).toEqual([200, 200, 200]);
  expect((await stranger("POST", "/api/revocations/signed", { jws })).status).toBe(201);
  expect(await eventually(() => eve.statuses(), everywhere(401))).toEqual([401, 401, 401]);
  for (const process of PROCESSES) {
    const again = apiAt(cluster.fleet.origin(process), "not-a-token");
    expect((await again("POST", "/api/revocations/signed", { jws })).status).toBe(401);
  }
});

test("a server that is switched off for everybody is refused, others go on, and it can be switched on again [AP-148]", async () => {
  const bob = await Person.arrive();
  const isCalled = async (name: string) => {
    const answers = await Promise.all(PROCESSES.map((process) => bob.call(process, name)));
    return answers.map(({ messages }) => JSON.stringify(messages).includes("pid"));
  };
  const all = (value: boolean) => (answers: boolean[]) => answers.every((one) => one === value);
  // The process that was killed may have been their home.
  for (const tool of ["echo.who", "other.who"]) {
    expect(await eventually(() => isCalled(tool), all(true))).toEqual([true, true, true]);
  }
  const off = await api("POST", "/api/revocations", { type: "everybody", server: "echo", protocol: "mcp" });
  expect(off.status).toBe(201);
  expect(await eventually(() => isCalled("echo.who"), all(false))).toEqual([false, false, false]);
  expect(await isCalled("other.who")).toEqual([true, true, true]);
  expect((await api("DELETE", `/api/orgs/default/blocks/${off.body.id}`)).status).toBe(204);
  expect(await eventually(() => isCalled("echo.who"), all(true))).toEqual([true, true, true]);
});

test("a server that is switched off by its exposure ends the sessions and calls at it, at every process [AP-148]", async () => {
  const at = (process: number) => cluster.url(process, "other");
  const [here, elsewhere] = [await Person.arrive({}, at(1)), await Person.arrive()];
  const call = post(at(2), toolCall(7, "wait", { ms: 25_000 }), here.headers).catch(String);
  const running = async () => JSON.stringify((await apiAt(cluster.fleet.origin(1))("GET", "/api/calls")).body.running);
  expect(await eventually(running, (text) => text.includes("other/wait"))).toContain("other/wait");
  const put = (enabled: boolean) =>
    api("PUT", "/api/policy/orgs/default/exposure", { server: "other", protocol: "mcp", enabled });
  expect((await put(false)).status).toBe(200);
  expect(JSON.stringify(await call)).not.toContain('"pid');
  const isOver = async () => (await post(at(0), { id: 1, method: "tools/list" }, here.headers)).status;
  expect(await eventually(isOver, (status) => status === 404)).toBe(404);
  expect(await elsewhere.statuses()).toEqual([200, 200, 200]);
  expect((await put(true)).status).toBe(200);
  const again = () => Person.arrive({}, at(0)).then(({ session }) => session);
  expect(await eventually(again, (session) => session !== "")).not.toBe("");
});

test("an operator ends a session and a call in whichever process they live", async () => {
  const bob = await Person.arrive();
  const call = bob.call(0, "echo.wait", { ms: 25_000 }).catch(String);
  const running = async () => (await api("GET", "/api/calls")).body.running as { callId: string; session: string }[];
  const { id } = (await api("GET", `/api/sessions/${bob.session}`)).body;
  const isHis = ({ session }: { session: string }) => session === id;
  const [found] = (await eventually(running, (all) => all.some(isHis))).filter(isHis);
  const elsewhere = apiAt(cluster.fleet.origin(2), operatorToken());
  expect((await elsewhere("POST", `/api/calls/${found?.callId}/cancel`)).status).toBe(202);
  expect(JSON.stringify(await call)).toContain("CANCELLED");
  expect((await elsewhere("DELETE", `/api/sessions/${bob.session}`)).status).toBe(202);
  expect(await eventually(() => bob.statuses(), everywhere(404))).toEqual([404, 404, 404]);
});

// The last one: the processes do not listen again when they may.
test("a revoked client is refused within seconds by processes that no word reaches [AP-143]", async () => {
  const redis = new Redis(cluster.redis.url);
  const eve = await Person.arrive();
  try {
    await redis.call("ACL", "SETUSER", "default", "resetchannels");
    expect((await api("POST", "/api/revocations", { type: "client", hash: hashOf(eve.token) })).status).toBe(201);
    expect(await eventually(() => eve.statuses(), everywhere(401), 8_000)).toEqual([401, 401, 401]);
  } finally {
    await redis.call("ACL", "SETUSER", "default", "allchannels");
    redis.disconnect();
  }
});

async function initialize(process: number, token: string): Promise<number> {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "e2e", version: "1" } };
  const message = { id: 0, method: "initialize", params };
  return (await post(cluster.url(process), message, { authorization: `Bearer ${token}` })).status;
}

async function keysWith(session: string): Promise<string[]> {
  const redis = new Redis(cluster.redis.url);
  try {
    return (await redis.keys("*")).filter((key) => key.includes(session));
  } finally {
    redis.disconnect();
  }
}
