/**
 * Redis and PostgreSQL killed, stopped and cut off, one after the other, under the load of `chaos:sessions`:
 * `npm run chaos:stores [-- --seed N --logs FOLDER --only TEXT]`. Each outage is held against the table in outages.ts; then the
 * store comes back, and everything must be served again by itself. Nothing that a client was told may be lost.
 */
import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { TestServer } from "../kit/servers/test-server.ts";
import { FaultProxy } from "./fault-proxy.ts";
import { startField } from "./field.ts";
import { startLoad } from "./load.ts";
import { type Effect, PROBES, type Probe, type StoreName, WAYS, type Way, WHILE_AWAY } from "./outages.ts";
import { type Execution, judgeExecutions } from "./outcome.ts";
import { Prober } from "./prober.ts";
import { seededRandom } from "./seeded-random.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    logs: { type: "string" },
    only: { type: "string", default: "" },
    governed: { type: "boolean", default: false },
  },
});

/** Longer than the lease of one second, its renewal and a command's limit together. */
const AWAY_MS = 3_500;
const BACK_MS = 20_000;

const proxies: Partial<Record<StoreName, FaultProxy>> = {};
const field = await startField({
  gateways: 3,
  logs: values.logs,
  isGoverned: values.governed,
  async reach(redis, postgres) {
    const redisProxy = await FaultProxy.start(Number(new URL(redis).port));
    const postgresProxy = await FaultProxy.start(Number(new URL(postgres).port));
    proxies.Redis = redisProxy;
    proxies.PostgreSQL = postgresProxy;
    return {
      redis: withPort(redis, redisProxy.port),
      postgres: withPort(postgres, postgresProxy.port),
      async close() {
        await redisProxy.close();
        await postgresProxy.close();
      },
    };
  },
});

function withPort(url: string, port: number): string {
  const changed = new URL(url);
  changed.port = String(port);
  return changed.href;
}

const servers: Readonly<Record<StoreName, TestServer>> = { Redis: field.redis, PostgreSQL: field.postgres };

async function breakStore(name: StoreName, way: Way): Promise<void> {
  if (way === "restarted") await servers[name].restart();
  else if (way === "killed") await servers[name].kill();
  else if (way === "stopped") servers[name].pause();
  else proxies[name]?.set(way === "delayed" ? "delay" : way);
}

async function mendStore(name: StoreName, way: Way): Promise<void> {
  if (way === "killed") await servers[name].restart();
  else if (way === "stopped") servers[name].resume();
  else if (way !== "restarted") proxies[name]?.set("pass");
}

const problems: string[] = [];
const rows: string[] = [];

async function checkOutage(name: StoreName, way: Way): Promise<void> {
  const prober = new Prober(field.fleet.origin(0), field.fleet.origin(1));
  await prober.prepare();
  await breakStore(name, way);
  await wait(AWAY_MS);
  const seen: Partial<Record<Probe, Effect | string>> = {};
  const ask = async (probe: Probe) => {
    seen[probe] = await prober.probe(probe);
  };
  await Promise.all(PROBES.map(ask));
  await mendStore(name, way);
  const backAt = Date.now();
  const still = new Set<Probe>(PROBES);
  const last = new Map<Probe, string>();
  while (still.size > 0 && Date.now() < backAt + BACK_MS) {
    for (const probe of [...still]) {
      const got = await prober.probe(probe);
      if (got === "served") still.delete(probe);
      else last.set(probe, got);
    }
    await wait(100);
  }
  for (const probe of PROBES) {
    const expected = way === "restarted" ? "served" : WHILE_AWAY[name][probe];
    if (seen[probe] !== expected) problems.push(`${name} ${way}: ${probe} was ${seen[probe]}, expected ${expected}`);
    if (still.has(probe)) problems.push(`${name} ${way}: ${probe} did not come back, it was ${last.get(probe)}`);
  }
  for (const index of field.fleet.fallen) problems.push(`${name} ${way}: gateway ${index} has ended`);
  rows.push(`${name} ${way}`.padEnd(22) + PROBES.map((probe) => String(seen[probe]).padEnd(probe.length + 2)).join(""));
  await prober.close();
}

try {
  const load = await startLoad(field.balancer.origin, seededRandom(Number(values.seed)));
  for (const name of ["Redis", "PostgreSQL"] as const) {
    for (const way of WAYS) if (`${name} ${way}`.includes(values.only)) await checkOutage(name, way);
  }
  await load.stop();
  const { tally } = load;
  const lines = readFileSync(field.record, "utf8").split("\n").filter(Boolean);
  judgeExecutions(
    tally,
    lines.map((line) => JSON.parse(line) as Execution),
  );
  process.stdout.write(`${"".padEnd(22)}${PROBES.map((probe) => `${probe}  `).join("")}\n${rows.join("\n")}\n\n`);
  process.stdout.write(`${tally.table()}\n\n`);
  for (const one of [...problems, ...tally.wrong].slice(0, 40)) process.stdout.write(`WRONG  ${one}\n`);
  const count = problems.length + tally.wrong.length;
  process.stdout.write(`${count === 0 ? "nothing wrong" : `${count} things wrong`}\n`);
  if (count > 0) process.exitCode = 1;
} finally {
  await field.stop();
}
// Not left to Node: with sockets that were reset it may wait for ever while it cleans up (seen with 24.21).
process.exit();
