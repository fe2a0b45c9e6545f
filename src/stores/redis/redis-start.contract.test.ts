import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { Redis } from "ioredis";
import { afterEach, describe, expect, test } from "vitest";
import { KeptLog } from "../../../tests/kit/quiet.ts";
import { type RedisOptions, startRedis } from "../../../tests/kit/servers/redis.ts";
import { freePort, type TestServer } from "../../../tests/kit/servers/test-server.ts";
import { pathOf } from "../../../tests/needs/need.ts";
import { openssl } from "../../../tests/needs/programs.ts";
import { openRedisSharedState, type RedisSharedState, type RedisSharedStateOptions } from "./redis-shared-state.ts";

const TTL_MS = 600_000;
const servers: TestServer[] = [];
const states: RedisSharedState[] = [];
afterEach(async () => {
  for (const state of states.splice(0)) await state.close();
  for (const server of servers.splice(0)) await server.stop();
});

async function start(options: RedisOptions = {}): Promise<TestServer> {
  const server = await startRedis(options);
  servers.push(server);
  return server;
}

async function open(url: string, options: Partial<RedisSharedStateOptions> = {}): Promise<RedisSharedState> {
  const state = await openRedisSharedState({ url, log: new KeptLog(), ...options });
  states.push(state);
  return state;
}

describe("opening", () => {
  test("where nothing listens says where and why", async () => {
    const port = await freePort();
    await expect(open(`redis://user:hidden@127.0.0.1:${port}/3`)).rejects.toThrow(
      `redis://127.0.0.1:${port}/3 cannot be reached: connect ECONNREFUSED 127.0.0.1:${port}`,
    );
  });

  test("with a wrong password or none says so", async () => {
    const server = await start({ password: "right" });
    const at = `redis://127.0.0.1:${server.port}/0 cannot be reached`;
    await expect(open(server.url.replace("right", "wrong"))).rejects.toThrow(`${at}: WRONGPASS`);
    await expect(open(`redis://127.0.0.1:${server.port}`)).rejects.toThrow(`${at}: NOAUTH`);
    await expect(open(server.url)).resolves.toMatchObject({ isUp: true });
  });

  test("rediss:// speaks TLS, and only to a server whose certificate is known", async () => {
    const folder = mkdtempSync(join(tmpdir(), "isthmus-tls-"));
    const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
    const making = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", certificate];
    execFileSync(pathOf(openssl), [...making, ...subject], { stdio: "ignore" });
    const tlsPort = await freePort();
    const files = { "tls-cert-file": certificate, "tls-key-file": key, "tls-auth-clients": "no" };
    await start({ settings: { "tls-port": String(tlsPort), ...files } });
    const url = `rediss://127.0.0.1:${tlsPort}/0`;
    await expect(open(url)).rejects.toThrow(`${url} cannot be reached: self-signed certificate`);
    const known = getCACertificates();
    setDefaultCACertificates([...known, readFileSync(certificate, "utf8")]);
    try {
      const state = await open(url);
      expect(await state.members.find("nobody")).toBeUndefined();
    } finally {
      setDefaultCACertificates(known);
      rmSync(folder, { recursive: true });
    }
  });

  test("a server that takes the connection and says nothing is given up", async () => {
    const server = await start();
    server.pause();
    await expect(open(server.url)).rejects.toThrow(`${server.url} cannot be reached: no answer in time`);
  });

  test("databases and prefixes keep gateways apart", async () => {
    const server = await start();
    const plain = await open(server.url);
    const others = [await open(server.url, { prefix: "other:" }), await open(server.url.replace(/0$/, "4"))];
    await plain.entries.claim("k", "m", { value: "v", ttlMs: TTL_MS });
    for (const other of others) expect(await other.entries.get("k")).toBeUndefined();
    expect(await (await open(server.url)).entries.get("k")).toMatchObject({ value: "v" });
  });
});

describe("durability", () => {
  const check = async (options: RedisOptions, isVolatile = false) =>
    (await open((await start(options)).url)).checkDurability(isVolatile);

  test("a Redis that syncs each write is taken without a word", async () => {
    expect(await check({})).toEqual([]);
  });

  test("one that syncs each second is taken, and the operator is told what that means", async () => {
    expect(await check({ settings: { appendfsync: "everysec" } })).toEqual([
      expect.stringMatching(/has appendfsync everysec: a power cut may lose the last second$/),
    ]);
  });

  test.each([
    [{ appendonly: "no" }, /does not write what it has to disk \(appendonly no\): set "appendonly yes", or set shared/],
    [{ "maxmemory-policy": "allkeys-lru" }, /\(maxmemory-policy allkeys-lru\): set "maxmemory-policy noeviction", or/],
    [
      { appendfsync: "no" },
      /\(appendfsync no\): set "appendfsync everysec" or "always", or set shared.volatile = true/,
    ],
  ])("one with %j is refused, unless that is accepted", async (settings, reason) => {
    await expect(check({ settings })).rejects.toThrow(reason);
    expect(await check({ settings }, true)).toEqual([expect.stringMatching(/; shared\.volatile accepts it$/)]);
  });

  test("where CONFIG is forbidden, what INFO tells is still held to, and the rest is said to be unknown", async () => {
    const hidden = { "rename-command": 'CONFIG ""' };
    expect(await check({ settings: hidden })).toEqual([
      expect.stringMatching(/forbids CONFIG, so appendfsync is not known/),
    ]);
    await expect(check({ settings: { ...hidden, appendonly: "no" } })).rejects.toThrow(/appendonly yes/);
  });
});

test("admitting and settling a call are one trip each, as is every other method", async () => {
  const state = await open((await start()).url);
  const once = { key: "k", digest: "d", ttlMs: TTL_MS };
  const admission = { call: "c", member: "m", session: "s", facts: "{}", ttlMs: TTL_MS, once };
  const methods: Record<string, () => Promise<unknown>> = {
    join: () => state.members.join({ id: "m", address: "" }, TTL_MS),
    renew: () => state.members.renew("m", TTL_MS),
    find: () => state.members.find("m"),
    list: () => state.members.list(),
    admit: () => state.calls.admit(admission),
    settle: () => state.calls.settle({ call: "c", session: "s", once: { key: "k", answer: "{}", ttlMs: TTL_MS } }),
    openOf: () => state.calls.openOf("s"),
    claim: () => state.entries.claim("e", "m", { value: "v", ttlMs: TTL_MS }),
    get: () => state.entries.get("e"),
    put: () => state.entries.put("e", "m", "w", TTL_MS),
    touch: () => state.entries.touch("e", "m", TTL_MS),
    drop: () => state.entries.drop("e", "m"),
    append: () => state.logs.append("l", [{ sequence: 1, text: "t" }], { maxItems: 1, maxBytes: 9, ttlMs: TTL_MS }),
    read: () => state.logs.read("l", 0),
    remove: () => state.logs.remove("l", 1),
    dropLog: () => state.logs.drop("l"),
    leave: () => state.members.leave("m"),
  };
  // The first time, Redis must be given the scripts.
  for (const method of Object.values(methods)) await method();
  const counts: Record<string, number> = {};
  for (const [name, method] of Object.entries(methods)) {
    const before = state.trips;
    await method();
    counts[name] = state.trips - before;
  }
  expect(counts).toEqual(Object.fromEntries(Object.keys(methods).map((name) => [name, 1])));
});

test("everything that is kept has an end, except the list of members", async () => {
  const server = await start();
  const state = await open(server.url);
  const once = { key: "k", digest: "d", ttlMs: TTL_MS };
  await state.members.join({ id: "m", address: "" }, TTL_MS);
  await state.entries.claim("e", "m", { value: "v", ttlMs: TTL_MS });
  await state.logs.append("l", [{ sequence: 1, text: "t" }], { maxItems: 1, maxBytes: 9, ttlMs: TTL_MS });
  await state.calls.admit({ call: "c", member: "m", session: "s", facts: "{}", ttlMs: TTL_MS, once });
  const client = new Redis(server.url);
  const ends = Object.fromEntries(
    await Promise.all((await client.keys("*")).map(async (key) => [key, (await client.pttl(key)) > 0] as const)),
  );
  client.disconnect();
  expect(ends).toEqual({
    "isthmus:members": false,
    "isthmus:member:m": true,
    "isthmus:entry:e": true,
    "isthmus:log:l": true,
    "isthmus:log-bytes:l": true,
    "isthmus:open:s": true,
    "isthmus:once:k": true,
  });
});

test("an open call whose time is long over is forgotten, though others of its session are not", async () => {
  const server = await start();
  const state = await open(server.url);
  await state.calls.admit({ call: "new", member: "m", session: "s", facts: "{}", ttlMs: TTL_MS });
  const client = new Redis(server.url);
  await client.hset("isthmus:open:s", "old", "1000\nm\n{}");
  expect((await state.calls.openOf("s")).map(({ call }) => call)).toEqual(["new"]);
  expect(await client.hkeys("isthmus:open:s")).toEqual(["new"]);
  client.disconnect();
});
