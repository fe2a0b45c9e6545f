/**
 * Thousands of calls with questions through the gateway, from each era to the other, while one client in ten vanishes
 * without a word. `SOAK_SEED=n` runs the same clients again.
 */
import { expect, test } from "vitest";
import { type RunningGateway, startGateway } from "../kit/gateway.ts";
import type { Caller } from "./caller.ts";
import { Caller2025 } from "./caller-2025.ts";
import { Caller2026 } from "./caller-2026.ts";
import { GatewayProbe, type HeapCounts } from "./gateway-probe.ts";
import { SeededRandom } from "./seeded-random.ts";
import { startServer2025 } from "./server-2025.ts";
import { startServer2026 } from "./server-2026.ts";
import { Wire } from "./wire.ts";

/** More than the gateway keeps of finished calls for `isthmus trace`. */
const WARM_UP_OF_EACH_ERA = 600;
const CALLS_OF_EACH_ERA = 5_000;
const CALLERS_OF_EACH_ERA = 32;
const SETTLE_MS = 25_000;
/** One object left behind by each client that vanished at one of the points would be fifty or more. */
const FEW_OBJECTS = 25;
const HEAP_GROWTH_BYTES = 3_000_000;
/** Connections of this process that the gateway has not seen the end of. */
const FEW_FILES = 4;

const config = (old: string, modern: string) => `
[gateway]
inputTimeout = "2s"
sessionIdle = "2s"
resumeWindow = "1s"
logLevel = "error"

[[servers]]
id = "old"
url = "${old}"
maxSessions = 4096
concurrency = 1024
timeout = "15s"

[[servers]]
id = "new"
url = "${modern}"
maxSessions = 4096
concurrency = 1024
timeout = "15s"
`;

test("10,000 calls with questions leave nothing behind when one client in ten vanishes", { timeout: 180_000 }, async ({
  onTestFailed,
}) => {
  const seed = Number(process.env.SOAK_SEED ?? Date.now() % 1_000_000);
  onTestFailed(() => void process.stderr.write(`to run the same clients again: SOAK_SEED=${seed}\n`));
  const random = new SeededRandom(seed);
  await using old = await startServer2025();
  await using modern = await startServer2026();
  await using gateway = await startGateway({
    config: config(old.url, modern.url),
    env: { NODE_OPTIONS: "--inspect=127.0.0.1:0" },
  });
  const probe = await GatewayProbe.connect(gateway);
  const held = async () => ({ gateway: await probe.gauges(), old: old.counts(), modern: modern.counts() });
  const atStart = await held();
  const filesAtStart = probe.openFiles();

  /** Makes that many calls in each direction and waits until nothing of them is left that is counted anywhere. */
  async function soak(calls: number): Promise<Made[]> {
    const wire = new Wire();
    const clients = { length: CALLERS_OF_EACH_ERA };
    const clients2026 = Array.from(clients, () => new Caller2026({ wire, url: `${gateway.origin}/old/mcp`, random }));
    const clients2025 = Array.from(clients, () => new Caller2025({ wire, url: `${gateway.origin}/new/mcp`, random }));
    const made = await Promise.all([makeCalls(clients2026, calls, random), makeCalls(clients2025, calls, random)]);
    await Promise.all(clients2025.map((client) => client.close()));
    wire.close();
    await expect.poll(held, { timeout: SETTLE_MS, interval: 250 }).toEqual(atStart);
    for (const server of [old, modern]) server.closeIdle();
    const files = () => probe.openFiles() - filesAtStart;
    await expect.poll(files, { timeout: SETTLE_MS, interval: 100 }).toBeLessThan(FEW_FILES);
    return made;
  }

  await refuseSome(gateway);
  await soak(WARM_UP_OF_EACH_ERA);
  const before = { heap: await probe.heapBytes(), counts: await probe.heapCounts() };
  for (const { right, vanished } of await soak(CALLS_OF_EACH_ERA)) {
    expect(right + vanished).toBe(CALLS_OF_EACH_ERA);
    expect(vanished).toBeGreaterThan(CALLS_OF_EACH_ERA / 20);
  }
  // Calls whose client vanished are held until their time is over.
  const grown = async () => grownBeyond(before.counts, await probe.heapCounts(), FEW_OBJECTS);
  await expect.poll(grown, { timeout: SETTLE_MS, interval: 2_000 }).toEqual([]);
  expect((await probe.heapBytes()) - before.heap).toBeLessThan(HEAP_GROWTH_BYTES);
  expect(gateway.program.stderr).not.toContain('"level":"error"');
  probe.close();
});

/**
 * What the first refusals bring is no growth: they go on record, for which the store is opened, and V8 makes a model of every
 * object that the code of it has made twice.
 */
async function refuseSome({ url, origin }: RunningGateway): Promise<void> {
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const guess = { ...headers, "mcp-session-id": "00000000-0000-4000-8000-000000000000" };
  const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
  const read = async <T>(path: string) => (await (await fetch(origin + path)).json()) as T;
  const recorded = async () => (await read<{ events: unknown[] }>("/api/audit")).events.length;
  for (let count = 1; count <= REFUSALS; count++) {
    const { status } = await fetch(url, { method: "POST", headers: guess, body });
    expect(status).toBe(404);
    await expect.poll(recorded, { timeout: SETTLE_MS }).toBeGreaterThanOrEqual(count);
  }
  const checkpoints = async () => (await read<{ checkpoints: number }>("/api/audit/verify")).checkpoints;
  await expect.poll(checkpoints, { timeout: SETTLE_MS, interval: 500 }).toBeGreaterThan(0);
}

const REFUSALS = 5;

type Made = { readonly right: number; readonly vanished: number };

/** Every client makes its next call when its last one is over. */
async function makeCalls(clients: readonly Caller[], calls: number, random: SeededRandom): Promise<Made> {
  let next = 0;
  let vanished = 0;
  let right = 0;
  await Promise.all(
    clients.map(async (client) => {
      while (next < calls) {
        const tag = `call ${next++}`;
        const isLost = random.below(10) === 0;
        await (isLost ? client.vanish(tag) : client.call(tag));
        if (isLost) vanished++;
        else right++;
      }
    }),
  );
  return { right, vanished };
}

/** What there is more of than `few`, by name. */
function grownBeyond(before: HeapCounts, after: HeapCounts, few: number): string[] {
  return [...after]
    .map(([name, count]) => ({ name, by: count - (before.get(name) ?? 0) }))
    .filter(({ by }) => by > few)
    .map(({ name, by }) => `${by} more of ${name}`);
}
