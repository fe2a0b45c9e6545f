/** A process that takes a token and a place in Redis and is killed at a fault point. Arguments: the URL, the point. */
import { armFaultPoints } from "../../../src/contract/index.ts";
import { openRedisSharedState } from "../../../src/stores/redis/index.ts";
import { KeptLog } from "../quiet.ts";

const [url = "", point] = process.argv.slice(2);
const state = await openRedisSharedState({ url, log: new KeptLog() });

await state.members.join({ id: "charger", address: "" }, 500);
armFaultPoints((reached) => {
  if (reached === point) process.kill(process.pid, "SIGKILL");
});
await state.calls.charge({
  call: "c",
  member: "charger",
  debits: [{ key: "b", level: "user", capacity: 2, refill: 0, periodMs: 1, ttlMs: 600_000 }],
  slots: [{ key: "p", level: "user", max: 1 }],
});
// Only a point that is never reached gets here.
process.exit(3);
