/**
 * Redis and PostgreSQL killed, stopped and cut off, one after the other, under the load of `chaos:sessions`:
 * `npm run chaos:stores [-- --seed N --logs FOLDER --only TEXT --governed]`. Each outage is held against the table in outages.ts;
 * then the store comes back, and everything must be served again by itself. Nothing that a client was told may be lost.
 */
import { parseArgs } from "node:util";
import type { TestServer } from "../kit/servers/test-server.ts";
import { FaultProxy } from "./fault-proxy.ts";
import { startField } from "./field.ts";
import { startGovernedLoad } from "./governed/governed-load.ts";
import { METERED } from "./governed/policy.ts";
import { lastTrail } from "./governed/trail.ts";
import { startLoad } from "./load.ts";
import { checkOutage, type Outage } from "./outage.ts";
import { type StoreName, WAYS, type Way } from "./outages.ts";
import { judgeExecutions, readExecutions } from "./outcome.ts";
import { seededRandom } from "./seeded-random.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    logs: { type: "string" },
    only: { type: "string", multiple: true, default: [""] },
    governed: { type: "boolean", default: false },
  },
});

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

const { governed, balancer, fleet } = field;
const outages: Outage[] = [];
try {
  const load = await startLoad(balancer.origin, seededRandom(Number(values.seed)), governed?.people);
  const { tally } = load;
  const judged = governed && startGovernedLoad(balancer.origin, governed, tally, { changesPolicy: false });
  for (const name of ["Redis", "PostgreSQL"] as const) {
    for (const way of WAYS) {
      if (!values.only.some((text) => `${name} ${way}`.includes(text))) continue;
      if (judged) judged.revocations.isBusCut = true;
      const store = { name, way, break: () => breakStore(name, way), mend: () => mendStore(name, way) };
      outages.push(await checkOutage(field, store));
      if (judged) judged.revocations.isBusCut = false;
    }
  }
  await Promise.all([judged?.stop(), load.stop()]);
  const executions = readExecutions(field.record);
  judgeExecutions(tally, executions);
  // Processes that cannot count together let a whole bucket through, and Redis then knows nothing of it.
  const spare = 2 * METERED.capacity * outages.filter(({ name }) => name.startsWith("Redis")).length;
  judged?.judge(executions, await lastTrail(fleet), spare);
  for (const { name, effects } of outages) {
    process.stdout.write(`${name}\n${effects.map(([probe, effect]) => `  ${effect.padEnd(8)} ${probe}\n`).join("")}`);
  }
  process.stdout.write(`\n${tally.table()}\n\n`);
  const wrong = [...outages.flatMap(({ problems }) => problems), ...tally.wrong];
  for (const one of wrong.slice(0, 40)) process.stdout.write(`WRONG  ${one}\n`);
  process.stdout.write(`${wrong.length === 0 ? "nothing wrong" : `${wrong.length} things wrong`}\n`);
  if (wrong.length > 0) process.exitCode = 1;
} finally {
  await field.stop();
}
// Not left to Node: with sockets that were reset it may wait for ever while it cleans up (seen with 24.21).
process.exit();
