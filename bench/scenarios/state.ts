/** What it costs that a call is known to others: the same load with state in memory, in SQLite, and in Redis. */
import type { Running } from "../candidates/candidate.ts";
import { isthmusMissing, startIsthmus } from "../candidates/isthmus.ts";
import { countTrips } from "../measure/redis-trips.ts";
import { waitUntilListed } from "../measure/start.ts";
import { asTimes, divide, judge } from "../measure/stats.ts";
import { postgresMissing, startPostgres } from "../stores/postgres.ts";
import { redisMissing, startRedis } from "../stores/redis.ts";
import type { Store } from "../stores/store.ts";
import { startUpstream, type Upstream } from "../upstream/start-upstream.ts";
import type { Bench } from "./field.ts";
import { type LoadedResult, measureLoaded } from "./loaded-rounds.ts";

const SESSIONS = 16;
const TOOLS = 20;
const MEMORY = "memory";
const MEMORY_TWIN = "memory, twin";
const SQLITE = "SQLite";
const REDIS = "Redis + PostgreSQL";
/** Embedded SQLite is what a config file gets without asking, so it may cost next to nothing. */
const SQLITE_LIMIT = 1.1;
/** A call has two exchanges over sockets, and the ledger adds two: twice the cost (measured: 1.9 to 2.1), and little more. */
const REDIS_LIMIT = 2.25;
const TRIPS = 2;

async function startGateway(upstream: Upstream, state: string): Promise<Running> {
  if (upstream.kind !== "http") throw new Error("state is compared over HTTP");
  const running = await startIsthmus(`${state}[[servers]]\nid = "up"\nprefix = ""\nurl = "${upstream.url}"\n`);
  await waitUntilListed(running, TOOLS);
  return running;
}

/** Undefined where a store is not on this machine, which is noted. */
async function startStores(bench: Bench): Promise<{ redis: Store; postgres: Store } | undefined> {
  const missing = redisMissing() ?? postgresMissing();
  if (missing !== undefined) {
    bench.report.addNote(`state: ${REDIS} skipped: ${missing}`);
    return undefined;
  }
  const redis = await startRedis();
  try {
    return { redis, postgres: await startPostgres() };
  } catch (error) {
    await redis.stop();
    throw error;
  }
}

export async function benchState(bench: Bench): Promise<void> {
  const missing = isthmusMissing();
  if (missing !== undefined) return bench.report.addNote(`state skipped: ${missing}`);
  const upstream = await startUpstream("http", TOOLS);
  const stores = await startStores(bench);
  const running = new Map<string, Running>();
  try {
    const memory = '[database]\nurl = "memory:"\n';
    running.set(MEMORY, await startGateway(upstream, memory));
    running.set(MEMORY_TWIN, await startGateway(upstream, memory));
    running.set(SQLITE, await startGateway(upstream, ""));
    if (stores !== undefined) {
      const urls = `[database]\nurl = "${stores.postgres.url}"\n[shared]\nurl = "${stores.redis.url}"\n`;
      running.set(REDIS, await startGateway(upstream, urls));
    }
    const title = `CPU per call by where state is kept, HTTP upstream, ${SESSIONS} sessions`;
    const result = await measureLoaded(bench, {
      title,
      running,
      sessions: SESSIONS,
      load: "call",
      controls: [[MEMORY, MEMORY_TWIN]],
      settleOn: ["cpuMs"],
      isContender: () => true,
    });
    report(bench, title, result);
    const shared = running.get(REDIS);
    if (stores !== undefined && shared !== undefined) await reportTrips(bench, stores.redis, shared);
  } finally {
    await Promise.all([...running.values()].map((one) => one.stop()));
    await Promise.all([upstream, stores?.redis, stores?.postgres].map((one) => one?.stop()));
  }
}

function report(bench: Bench, title: string, { figures, control, rounds }: LoadedResult): void {
  const ratioOf = (name: string): number | undefined => divide(figures.get(name)?.cpuMs, figures.get(MEMORY)?.cpuMs);
  const rows = [...figures].map(([name, one]) => [
    name,
    one.cpuMs?.toFixed(4),
    ratioOf(name)?.toFixed(2),
    one.callsPerSecond.toFixed(0),
    one.p50Ms.toFixed(2),
    one.p99Ms.toFixed(2),
  ]);
  const columns = ["state in", "CPU ms/call", "x memory", "calls/s", "p50 ms", "p99 ms"];
  bench.report.addTable({ title: `${title} (${rounds} rounds)`, columns, rows });
  for (const [name, limit] of [
    [SQLITE, SQLITE_LIMIT],
    [REDIS, REDIS_LIMIT],
  ] as const) {
    if (!figures.has(name)) continue;
    const bar = `CPU per call with state in ${name} <= ${limit}x ${MEMORY} + control`;
    const use = { controlUse: "allow", control: control("cpuMs"), format: asTimes } as const;
    bench.report.addVerdict(judge({ bar, value: ratioOf(name), limit, ...use }));
  }
}

/** Not while CPU is measured: Redis tells of each command, which costs. */
async function reportTrips(bench: Bench, redis: Store, shared: Running): Promise<void> {
  const { load, options, report } = bench;
  await load.open("trips", shared, SESSIONS);
  await load.warm("trips", "call", options.runMs, 1_000);
  let calls = 0;
  const trips = await countTrips(redis.port, async () => {
    calls = (await load.run("trips", options.runMs)).calls;
  });
  await load.close("trips");
  report.addVerdict({
    // Counted, not measured: there is no noise to allow for.
    outcome: calls > 0 && trips === TRIPS * calls ? "PASS" : "FAIL",
    bar: `round trips to Redis per call are exactly ${TRIPS}`,
    figure: `${(trips / calls).toFixed(2)}, ${trips} for ${calls} calls`,
    control: 0,
  });
}
