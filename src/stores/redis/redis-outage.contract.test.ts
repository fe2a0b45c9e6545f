import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { KeptLog } from "../../../tests/kit/quiet.ts";
import { startRedis } from "../../../tests/kit/servers/redis.ts";
import type { TestServer } from "../../../tests/kit/servers/test-server.ts";
import { openRedisSharedState, type RedisSharedState } from "./redis-shared-state.ts";

const TTL_MS = 600_000;
const PASSWORD = "s3cret-of-redis/%";

let server: TestServer;
let state: RedisSharedState;
let log: KeptLog;
beforeEach(async () => {
  server = await startRedis({ password: PASSWORD });
  log = new KeptLog();
  state = await openRedisSharedState({ url: server.url, log, timeoutMs: 300 });
});
afterEach(async () => {
  await state.close();
  await server.stop();
});

const create = (key: string) => state.entries.claim(key, "m", { value: "v", ttlMs: TTL_MS });
const unavailable = { code: "STATE_UNAVAILABLE" };

/** Resolves when `isUp` next becomes this. */
function health(wanted: boolean): Promise<void> {
  return new Promise((resolve) => {
    const stop = state.onHealth((isUp) => {
      if (isUp !== wanted) return;
      stop();
      resolve();
    });
  });
}

describe("a Redis that is killed", () => {
  test("is told at once, refuses at once, and comes back with all it had acknowledged", async () => {
    await state.members.join({ id: "m", address: "a:1" }, TTL_MS);
    await create("session:s");
    await state.calls.admit({ call: "c", member: "m", session: "s", facts: "{}", ttlMs: TTL_MS });
    const isDown = health(false);
    await server.kill();
    await isDown;
    expect(state.isUp).toBe(false);
    const trips = state.trips;
    await expect(state.entries.get("session:s")).rejects.toMatchObject(unavailable);
    await expect(state.members.renew("m", TTL_MS)).rejects.toMatchObject(unavailable);
    await expect(state.channel.subscribe("t", () => undefined)).rejects.toMatchObject(unavailable);
    state.channel.publish("t", "lost");
    expect(state.trips).toBe(trips);
    const told = () => log.lines.map(({ message }) => message).filter((text) => /^redis is /.test(text));
    expect(new Set(told())).toEqual(new Set(["redis is away"]));
    const isUp = health(true);
    await server.restart();
    await isUp;
    expect(told().at(-1)).toBe("redis is back");
    expect(await state.entries.get("session:s")).toMatchObject({ value: "v", home: { id: "m", address: "a:1" } });
    expect(await state.calls.openOf("s")).toHaveLength(1);
    expect(await state.members.renew("m", TTL_MS)).toBe(true);
  });

  test("what was under way is refused, not kept and sent again", async () => {
    server.pause();
    const refused = expect(create("k")).rejects.toMatchObject(unavailable);
    await server.kill();
    await refused;
    const isUp = health(true);
    await server.restart();
    await isUp;
    expect(await state.entries.get("k")).toBeUndefined();
  });

  test("topics are listened to again after it is back; those that were left are not", async () => {
    const heard: string[] = [];
    await state.channel.subscribe("stays", (text) => heard.push(text));
    const leave = await state.channel.subscribe("left", (text) => heard.push(text));
    const isDown = health(false);
    await server.kill();
    await isDown;
    await leave();
    const isUp = health(true);
    await server.restart();
    await isUp;
    await vi.waitFor(
      () => {
        state.channel.publish("left", "left");
        state.channel.publish("stays", "stays");
        expect(heard).toContain("stays");
      },
      { timeout: 10_000 },
    );
    expect(heard).not.toContain("left");
  }, 15_000);
});

describe("a Redis that is stopped", () => {
  test("is refused after the time limit, then at once, until it answers again", async () => {
    server.pause();
    const waiting = [create("a"), create("b")];
    expect(state.isUp).toBe(true);
    for (const end of await Promise.allSettled(waiting))
      expect(end).toMatchObject({ status: "rejected", reason: unavailable });
    expect(state.isUp).toBe(false);
    const trips = state.trips;
    for (let index = 0; index < 1_000; index += 1) await expect(create(`k${index}`)).rejects.toMatchObject(unavailable);
    expect(state.trips).toBe(trips);
    const isUp = health(true);
    server.resume();
    await isUp;
    await expect(create("after")).resolves.toMatchObject({ value: "v" });
    // Nothing may be assumed of what was refused: Redis had it in its socket, and did it when it went on.
    expect(await state.entries.get("a")).toBeDefined();
  });
});

test("a connection that has gone silent is given up, and both are made anew", async () => {
  const sockets = new Set<Socket>();
  const proxy = createServer((socket) => {
    const beyond = connect(server.port, "127.0.0.1");
    socket.pipe(beyond).pipe(socket);
    for (const end of [socket, beyond]) sockets.add(end.on("error", () => undefined));
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  await state.close();
  const { port } = proxy.address() as AddressInfo;
  state = await openRedisSharedState({ url: server.url.replace(`:${server.port}`, `:${port}`), log, timeoutMs: 200 });
  const heard: string[] = [];
  await state.channel.subscribe("t", (text) => heard.push(text));
  // As when a cable is cut: nothing arrives any more, and nobody is told.
  for (const socket of sockets) socket.unpipe().pause();
  await expect(create("k")).rejects.toMatchObject(unavailable);
  await health(true);
  await expect(create("k")).resolves.toMatchObject({ value: "v" });
  await vi.waitFor(
    () => {
      state.channel.publish("t", "again");
      expect(heard).toContain("again");
    },
    { timeout: 10_000 },
  );
  for (const socket of sockets) socket.destroy();
  proxy.close();
}, 20_000);

test("a Redis without room refuses what would need some, and lets reads go on", async () => {
  await create("before");
  const client = new Redis(server.url);
  await client.config("SET", "maxmemory", "1");
  await expect(create("k")).rejects.toMatchObject(unavailable);
  expect(await state.entries.get("before")).toMatchObject({ value: "v" });
  await client.config("SET", "maxmemory", "0");
  await expect(create("k")).resolves.toMatchObject({ value: "v" });
  client.disconnect();
});

test("neither log nor errors hold the password or what was written", async () => {
  server.pause();
  const failed = await state.entries
    .claim("k", "m", { value: "a client's words", ttlMs: TTL_MS })
    .catch((e: Error) => e);
  const isUp = health(true);
  await server.restart();
  await isUp;
  const wrong = await openRedisSharedState({ url: server.url.replace("s3cret", "s3cret-wrong"), log }).catch(
    (e: Error) => e,
  );
  const seen = JSON.stringify([log.lines, texts(failed), texts(wrong)]);
  expect(seen).toContain("WRONGPASS");
  expect(seen).not.toMatch(/s3cret|client's words/);
});

/** An error as a log might print it: all its properties, and its causes. */
function texts(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  return [error.message, error.stack, { ...error }, texts(error.cause)];
}
