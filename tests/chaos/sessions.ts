/**
 * Three gateways behind nginx, on PostgreSQL and Redis, under load of both eras, and one of them killed every two seconds:
 * `npm run chaos:sessions [-- --seconds N --seed N --logs FOLDER --governed]`. Ends with 1 when anything happened that must never.
 * With `--governed` callers have tokens, rights and limits, some calls wait for a yes, and everything is on the audit trail.
 */
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { startField } from "./field.ts";
import { startGovernedLoad } from "./governed/governed-load.ts";
import { lastTrail } from "./governed/trail.ts";
import { startLoad } from "./load.ts";
import { judgeExecutions, readExecutions } from "./outcome.ts";
import { seededRandom } from "./seeded-random.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" },
    seed: { type: "string", default: "1" },
    logs: { type: "string" },
    governed: { type: "boolean", default: false },
  },
});
const seconds = Number(values.seconds);
const random = seededRandom(Number(values.seed));
const KILL_EVERY_MS = 2_000;

const field = await startField({ gateways: 3, logs: values.logs, isGoverned: values.governed });
const { fleet, balancer, governed } = field;
let kills = 0;
try {
  const load = await startLoad(balancer.origin, random, governed?.people);
  const { tally } = load;
  const judged = governed && startGovernedLoad(balancer.origin, governed, tally, { changesPolicy: true });
  const until = performance.now() + seconds * 1000;
  while (performance.now() < until) {
    await wait(KILL_EVERY_MS);
    const victim = Math.floor(random() * 3);
    await fleet.kill(victim);
    kills++;
    await fleet.start(victim);
  }
  await Promise.all([judged?.stop(), load.stop()]);
  for (const index of fleet.fallen) tally.violate(`gateway ${index} ended although nobody killed it`);
  const executions = readExecutions(field.record);
  judgeExecutions(tally, executions);
  judged?.judge(executions, await lastTrail(fleet));
  process.stdout.write(`${tally.table()}\n\n`);
  process.stdout.write(
    `${kills} gateways killed in ${seconds} s, seed ${values.seed}; ${executions.length} executions, ${tally.tasks.size} tasks\n`,
  );
  for (const one of tally.wrong.slice(0, 20)) process.stdout.write(`WRONG  ${one}\n`);
  process.stdout.write(`${tally.wrong.length === 0 ? "nothing wrong" : `${tally.wrong.length} things wrong`}\n`);
  if (tally.wrong.length > 0 || tally.total("answered") === 0) process.exitCode = 1;
} finally {
  await field.stop();
}
// Not left to Node: with sockets that were reset it may wait for ever while it cleans up (seen with 24.21).
process.exit();
