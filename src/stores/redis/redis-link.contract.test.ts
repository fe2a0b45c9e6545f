import { Redis } from "ioredis";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { KeptLog } from "../../../tests/kit/quiet.ts";
import { startRedis } from "../../../tests/kit/servers/redis.ts";
import type { TestServer } from "../../../tests/kit/servers/test-server.ts";
import { connect, createClient } from "./redis-client.ts";
import { RedisLink } from "./redis-link.ts";
import { parseRedisUrl } from "./redis-url.ts";

let server: TestServer;
let redis: Redis;
let link: RedisLink;
beforeEach(async () => {
  server = await startRedis();
  redis = await createClient(parseRedisUrl(server.url));
  await connect(redis);
  link = new RedisLink({ redis, timeoutMs: 1_000, label: "test", log: new KeptLog() });
});
afterEach(async () => {
  link.close();
  await server.stop();
});

/** How many times bytes were handed to the system. */
function countWrites(): () => number {
  const one = vi.spyOn(redis.stream, "_write");
  const several = vi.spyOn(redis.stream, "_writev");
  return () => one.mock.calls.length + several.mock.calls.length;
}

test("commands of one turn leave in one write, in order, and each gets its own answer", async () => {
  const writes = countWrites();
  link.tell((client) => client.set("n", 40));
  const answers = Array.from({ length: 20 }, () => link.ask((client) => client.incr("n")));
  expect(writes()).toBe(0);
  expect(await Promise.all(answers)).toEqual(Array.from({ length: 20 }, (_, i) => 41 + i));
  expect(writes()).toBe(1);
  expect(await link.ask((client) => client.get("n"))).toBe("60");
  expect(writes()).toBe(2);
});

test("what was said last is heard although the link is closed in the same turn", async () => {
  link.tell((client) => client.set("last", "word"));
  link.close();
  const other = new Redis(server.url);
  await expect.poll(() => other.get("last")).toBe("word");
  other.disconnect();
});

test("what waits to leave fails with its connection, and what comes after it goes on", async () => {
  const lost = link.ask((client) => client.incr("n"));
  const isBack = new Promise<void>((resolve) => link.onHealth((isUp) => isUp && resolve()));
  redis.stream.destroy();
  await expect(lost).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
  await isBack;
  expect(await link.ask((client) => client.incr("n"))).toBe(1);
});
