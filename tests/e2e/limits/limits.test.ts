import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../kit/eventually.ts";
import { helloServer } from "../kit/gateway.ts";
import { operatorToken } from "../kit/operator.ts";
import { browserTable, newMark } from "../processes/cluster.ts";
import { callOnce, countOf, type LimitedCluster, startLimitedCluster } from "./limited-cluster.ts";

const LIMITS = {
  // So slow that no token comes back while the tests run.
  burst: 'capacity = 100\nrefill = "1/d"',
  steady: 'capacity = 50\nrefill = "20/s"',
  budget: "budget = 30",
  places: "concurrency = 5",
  share: 'capacity = 31\nrefill = "1/d"',
  open: "budget = 100000",
  // None at first that matters.
  live: 'capacity = 1000000\nrefill = "1000/s"',
};

let rig: LimitedCluster;
beforeAll(async () => {
  const children = [
    browserTable("child", newMark(), 'sessions = "shared"'),
    helloServer("hello", 'sessions = "shared"'),
  ];
  const budgets = ["child", "hello"].map((id) => `[[limits]]\nserver = "${id}"\nbudget = 9\n`);
  rig = await startLimitedCluster(LIMITS, [...children, ...budgets].join(""));
}, 60_000);
afterAll(() => rig?.[Symbol.asyncDispose]());

const url = (index: number) => rig.cluster.url(index % 3);

/** All at once, over all processes. */
const flood = (count: number, server: string) =>
  Promise.all(Array.from({ length: count }, (_, index) => callOnce(url(index), server)));

async function set(limits: object[], headers: object = {}): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(`${rig.cluster.fleet.origin(0)}/api/ratelimits/orgs/default`, {
    method: "PUT",
    headers: {
      authorization: `Bearer ${operatorToken()}`,
      "content-type": "application/json",
      ...headers,
    },
    body: JSON.stringify(limits),
  });
  return { status: answer.status, body: await answer.json() };
}

async function gauge(index: number, name: string): Promise<number> {
  const text = await (await fetch(`${rig.cluster.fleet.origin(index)}/metrics`)).text();
  const line = text.split("\n").find((one) => one.startsWith(`${name} `) || one.startsWith(`${name}{`));
  return Number(line?.slice(line.lastIndexOf(" ") + 1) ?? 0);
}

describe("1,000 calls at once over three processes", () => {
  test("pass as many as the bucket holds, and not one more [AP-152] [AP-154]", { timeout: 120_000 }, async () => {
    const outcomes = await flood(1_000, "burst");
    const { ok = 0, LIMITED = 0, STATE_UNAVAILABLE = 0 } = countOf(outcomes);
    expect(ok + LIMITED + STATE_UNAVAILABLE).toBe(1_000);
    expect(ok).toBeLessThanOrEqual(100);
    // Where Redis did not answer in time, the token may be gone: each such call may cost one, and none may win one.
    expect(ok + STATE_UNAVAILABLE).toBeGreaterThanOrEqual(100);
    expect(rig.executions("burst")).toBe(ok);
    const refused = outcomes.find(({ code }) => code === "LIMITED");
    expect(refused?.text).toMatch(/^The rate limit of this server is reached\. Try again in [\d.]+ s\.$/);
    expect(refused?.retryAfterMs).toBeGreaterThan(0);
    expect(refused?.retryAfterMs).toBeLessThanOrEqual(86_400_000);
  });

  test("pass no more than came back meanwhile by the store's clock, at most one early", {
    timeout: 120_000,
  }, async () => {
    const began = await rig.clock();
    const outcomes = await flood(1_000, "steady");
    const elapsedMs = (await rig.clock()) - began;
    const { ok = 0, LIMITED = 0, STATE_UNAVAILABLE = 0 } = countOf(outcomes);
    expect(ok + LIMITED + STATE_UNAVAILABLE).toBe(1_000);
    expect(ok + STATE_UNAVAILABLE).toBeGreaterThanOrEqual(50);
    expect(ok).toBeLessThanOrEqual(50 + Math.floor((elapsedMs * 20) / 1_000) + 1);
    expect(rig.executions("steady")).toBe(ok);
  });
});

describe("a server whose one process lives at one gateway", () => {
  test.each([
    ["child", "look"],
    ["hello", "greet"],
  ])("is charged once for a call, wherever that comes in (%s)", async (server, tool) => {
    const outcomes = await Promise.all(
      Array.from({ length: 30 }, (_, index) => callOnce(url(index), server, { name: "Ada" }, tool)),
    );
    expect(countOf(outcomes)).toEqual({ ok: 9, LIMITED: 21 });
  });
});

describe("what operators set at one process", () => {
  test("is described, is in force at the others, and what was taken of what stays is not given back [AP-035] [AP-531]", async () => {
    const answer = await fetch(`${rig.cluster.fleet.origin(1)}/openapi.json`);
    const described = (await answer.json()) as { paths: Record<string, object> };
    expect(Object.keys(described.paths["/api/ratelimits/orgs/{orgId}"] ?? {})).toEqual(
      expect.arrayContaining(["get", "put"]),
    );
    const budget = { selector: { server: "live" }, budget: 3 };
    expect(await set([budget])).toMatchObject({ status: 200, body: [budget] });
    const spent = await eventually(
      () => callOnce(url(2), "live"),
      ({ code }) => code === "LIMITED",
    );
    expect(spent.text).toMatch(/^The budget of this server is spent\./);
    expect(rig.executions("live")).toBeGreaterThanOrEqual(3);
    expect((await set([budget, { selector: {}, policy: { capacity: 5, refill: "often" } }])).status).toBe(422);
    expect((await set([{ selector: { user: "nobody" }, concurrency: 1 }, budget])).status).toBe(200);
    expect((await callOnce(url(0), "live")).code).toBe("LIMITED");
    expect((await set([], { "if-match": '"1"' })).status).toBe(412);
    expect((await set([])).status).toBe(200);
    const free = await eventually(
      () => callOnce(url(1), "live"),
      ({ code }) => code === "ok",
    );
    expect(free.code).toBe("ok");
  });
});

describe("when every process is killed", () => {
  test("a budget is not given back, and what operators set is still there [AP-551]", { timeout: 120_000 }, async () => {
    const kept = [{ selector: { user: "somebody" }, budget: 5 }];
    expect((await set(kept)).status).toBe(200);
    expect(countOf(await flood(20, "budget"))).toEqual({ ok: 20 });
    await Promise.all([0, 1, 2].map((index) => rig.cluster.fleet.kill(index)));
    await Promise.all([0, 1, 2].map((index) => rig.cluster.fleet.start(index)));
    expect(countOf(await flood(60, "budget"))).toEqual({ ok: 10, LIMITED: 50 });
    expect(rig.executions("budget")).toBe(30);
    const answer = await fetch(`${rig.cluster.fleet.origin(2)}/api/ratelimits/orgs/default`);
    expect(await answer.json()).toEqual(kept);
  });

  test("the places of a process that died are free when its lease is over", { timeout: 120_000 }, async () => {
    const running = Array.from({ length: 5 }, () => callOnce(url(0), "places", { ms: 60_000 }).catch(() => undefined));
    await eventually(
      () => rig.executions("places"),
      (count) => count === 5,
    );
    expect(countOf(await flood(30, "places"))).toEqual({ LIMITED: 30 });
    await rig.cluster.fleet.kill(0);
    await Promise.all(running);
    const free = await eventually(
      () => callOnce(url(1), "places"),
      ({ code }) => code === "ok",
      30_000,
    );
    expect(free.code).toBe("ok");
    await rig.cluster.fleet.start(0);
  });
});

describe("while Redis is away", () => {
  test("each process lets its share through, budgets are refused, and both end by themselves", {
    timeout: 120_000,
  }, async () => {
    for (const index of [0, 1, 2]) {
      const known = await eventually(
        () => gauge(index, "isthmus_members"),
        (count) => count === 3,
        30_000,
      );
      expect(known).toBe(3);
    }
    const { redis } = rig.cluster;
    const lost = (index: number) => gauge(index, "isthmus_memberships_lost_total");
    const before = await Promise.all([0, 1, 2].map(lost));
    await redis.kill();
    // Its connections are cut when a process can no longer be sure of its lease: calls come after that.
    for (const index of [0, 1, 2]) {
      await eventually(
        () => lost(index).catch(() => 0),
        (count) => count > (before[index] ?? 0),
        30_000,
      );
    }
    for (const index of [0, 1, 2]) {
      const outcomes = await Promise.all(Array.from({ length: 40 }, () => callOnce(url(index), "share")));
      expect(countOf(outcomes)).toEqual({ ok: 10, LIMITED: 30 });
    }
    expect(countOf(await flood(6, "open"))).toEqual({ STATE_UNAVAILABLE: 6 });
    await redis.restart();
    for (const index of [0, 1, 2]) {
      const served = await eventually(
        () => callOnce(url(index), "open"),
        ({ code }) => code === "ok",
      );
      expect(served.code).toBe("ok");
    }
    expect(countOf(await flood(100, "share"))).toEqual({ ok: 31, LIMITED: 69 });
  });
});
