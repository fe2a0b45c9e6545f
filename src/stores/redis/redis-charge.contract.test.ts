import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { KeptLog } from "../../../tests/kit/quiet.ts";
import { startRedis } from "../../../tests/kit/servers/redis.ts";
import type { TestServer } from "../../../tests/kit/servers/test-server.ts";
import type { Admission, Debit, SlotClaim } from "../../contract/index.ts";
import { openRedisSharedState, type RedisSharedState } from "./redis-shared-state.ts";

const CHARGER = fileURLToPath(new URL("../../../tests/kit/shared-state/killed-charger.ts", import.meta.url));
const BUDGET: Debit = { key: "b", level: "user", capacity: 2, refill: 0, periodMs: 1, ttlMs: 600_000 };
const PLACE: SlotClaim = { key: "p", level: "user", max: 1 };

let server: TestServer;
let state: RedisSharedState;
beforeEach(async () => {
  server = await startRedis();
  state = await openRedisSharedState({ url: server.url, log: new KeptLog() });
  await state.members.join({ id: "m", address: "" }, 600_000);
});
afterEach(async () => {
  await state.close();
  await server.stop();
});

const admission = (call: string, more: Partial<Admission>): Admission => ({
  call,
  member: "m",
  facts: "",
  ttlMs: 60_000,
  ...more,
});

test("a call that takes from many buckets and places makes two trips, and one that takes nothing none", async () => {
  const debits = Array.from({ length: 20 }, (_, index) => ({ ...BUDGET, key: `b${index}` }));
  const slots = Array.from({ length: 20 }, (_, index) => ({ ...PLACE, key: `p${index}` }));
  await state.calls.admit(admission("warm", { debits, slots }));
  await state.calls.settle({ call: "warm", member: "m", slots });
  const before = state.trips;
  expect(await state.calls.admit(admission("c", { debits, slots }))).toEqual({ type: "open" });
  await state.calls.settle({ call: "c", member: "m", slots });
  expect(state.trips - before).toBe(2);
  await state.calls.admit(admission("d", {}));
  await state.calls.settle({ call: "d" });
  expect(await state.calls.charge({ call: "d", member: "m" })).toBeUndefined();
  expect(state.trips - before).toBe(2);
});

test("buckets and places are in the store under names that nobody can choose, and end by themselves [AP-556]", async () => {
  await state.calls.admit(admission("c", { debits: [{ ...BUDGET, refill: 1 }], slots: [PLACE] }));
  const { Redis } = await import("ioredis");
  const client = new Redis(server.url);
  const keys = (await client.keys("isthmus:*")).filter((key) => !key.includes("member")).sort();
  expect(keys).toEqual(["isthmus:bucket:b", "isthmus:places:p", "isthmus:places:p:m"]);
  for (const key of keys) expect(await client.pttl(key)).toBeGreaterThan(0);
  client.disconnect();
});

describe.each(["redis.charge.sending", "redis.charge.acknowledged"])("a process that is killed at %s", (point) => {
  test("has taken what it took once, and its place is free when its lease is over", async () => {
    const child = spawn(process.execPath, [CHARGER, server.url, point], { stdio: "inherit" });
    const [, signal] = await once(child, "exit");
    expect(signal).toBe("SIGKILL");
    while ((await state.members.find("charger")) !== undefined) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await state.calls.admit(admission("c1", { debits: [BUDGET], slots: [PLACE] }))).toEqual({ type: "open" });
    expect(await state.calls.admit(admission("c2", { slots: [PLACE] }))).toMatchObject({ of: "places" });
    const left = await state.calls.admit(admission("c3", { debits: [BUDGET] }));
    expect(left.type).toBe(point.endsWith("acknowledged") ? "limited" : "open");
  });
});
