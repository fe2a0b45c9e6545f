import { expect, test } from "vitest";
import { eventually } from "../../kit/eventually.ts";
import { waitForEnd } from "../kit/processes.ts";
import { Client, saidIn } from "./client.ts";
import { browserTable, newMark, SHORT_LEASE_MS, startCluster } from "./cluster.ts";
import { ProcessCount, processesOf } from "./processes-of.ts";

/**
 * @playwright/mcp is among the test parts, but no browser is, and one is too large to bring along for a test: a server of our
 * own keeps what it keeps (tabs, and the page it shows), in the same way: in its process.
 */
const CLIENTS = 8;
const ROUNDS = 12;

test("a stateful stdio server keeps its state for each client behind three processes in turn [AP-086] [AP-088]", async () => {
  const mark = newMark();
  await using cluster = await startCluster({
    servers: browserTable("browser", mark, 'sessions = "per-client"'),
    leaseMs: SHORT_LEASE_MS,
  });
  const url = `${cluster.balancer.origin}/mcp`;
  // The one process that said what the server offers is gone, and there are no clients yet.
  expect(
    await eventually(
      () => processesOf(mark),
      (pids) => pids.length === 0,
    ),
  ).toEqual([]);
  using count = new ProcessCount(mark);
  const clients = await Promise.all(
    Array.from({ length: CLIENTS }, async (_, number) => {
      const client = await Client.open(url);
      return { client, number, tabs: [] as string[], pids: new Set<number>(), servedBy: new Set<unknown>() };
    }),
  );
  for (let round = 0; round < ROUNDS; round++) {
    await Promise.all(
      clients.map(async ({ client, number, tabs, pids, servedBy }) => {
        const page = `https://client-${number}.test/${round}`;
        tabs.push(page);
        const opened = await client.call(url, "browser.open", { url: page });
        const looked = await client.call(url, "browser.look");
        for (const answer of [opened, looked]) {
          expect(saidIn(answer).tabs).toEqual(tabs);
          pids.add(saidIn(answer).pid);
          servedBy.add(answer.headers["x-served-by"]);
        }
      }),
    );
    expect(processesOf(mark).length).toBeLessThanOrEqual(CLIENTS);
  }
  for (const { pids, servedBy } of clients) {
    expect(pids.size).toBe(1);
    expect(servedBy.size).toBe(3);
  }
  expect(new Set(clients.flatMap(({ pids }) => [...pids])).size).toBe(CLIENTS);
  expect(count.looks).toBeGreaterThan(10);
  expect(count.most).toBeLessThanOrEqual(CLIENTS);
  const own = clients.flatMap(({ pids }) => [...pids]);
  await Promise.all(clients.map(({ client }) => client.close(url)));
  expect(await waitForEnd(own)).toEqual([]);
});
