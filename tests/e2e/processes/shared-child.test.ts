import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../../kit/eventually.ts";
import { descendants } from "../kit/processes.ts";
import { type Answer, Client, saidIn } from "./client.ts";
import { browserTable, newMark, SHORT_LEASE_MS, startCluster, type TestCluster } from "./cluster.ts";
import { ProcessCount, processesOf } from "./processes-of.ts";

const mark = newMark();
let cluster: TestCluster;
let count: ProcessCount;

beforeEach(async () => {
  count = new ProcessCount(mark);
  cluster = await startCluster({ servers: browserTable("browser", mark), leaseMs: SHORT_LEASE_MS });
}, 60_000);

afterEach(async () => {
  count[Symbol.dispose]();
  await cluster?.[Symbol.asyncDispose]();
});

/** Which gateway the child belongs to. */
function homeOf(child: number): number {
  return [0, 1, 2].findIndex((index) => descendants(cluster.fleet.pid(index) as number).includes(child));
}

const isServed = ({ status, message }: Answer) => status === 200 && message?.result?.isError !== true;

test("clients that cannot be asked share one child of the whole cluster, whichever process they call", async () => {
  const clients = await Promise.all([0, 1, 2, 0, 1, 2].map((index) => Client.open(cluster.url(index))));
  const pids = new Set<number>();
  for (const client of clients)
    for (const index of [0, 1, 2]) pids.add(saidIn(await client.call(cluster.url(index), "browser.look")).pid);
  expect([...pids]).toEqual(processesOf(mark));
  expect(count.most).toBe(1);
  expect(homeOf([...pids][0] as number)).toBeGreaterThanOrEqual(0);
});

test.each(["SIGKILL", "SIGTERM"] as const)(
  "after %s of its home it lives in another process, and never twice",
  async (signal) => {
    const client = await Client.open(cluster.url(0));
    const { pid } = saidIn(await client.call(cluster.url(0), "browser.open", { url: "before" }));
    const home = homeOf(pid);
    const [next = 0, other = 0] = [0, 1, 2].filter((index) => index !== home);
    await cluster.fleet.kill(home, signal);
    const answer = await eventually(() => client.call(cluster.url(next), "browser.look"), isServed, 20_000);
    const moved = saidIn(answer);
    expect(moved.pid).not.toBe(pid);
    expect(moved.tabs).toEqual([]);
    expect(saidIn(await client.call(cluster.url(other), "browser.look")).pid).toBe(moved.pid);
    expect([next, other]).toContain(homeOf(moved.pid));
    expect(processesOf(mark)).toEqual([moved.pid]);
    // The one that was away reaches it where it is now.
    await cluster.fleet.start(home);
    expect(saidIn(await client.call(cluster.url(home), "browser.look")).pid).toBe(moved.pid);
    expect(count.most).toBe(1);
  },
);
