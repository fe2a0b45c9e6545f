/** Counts what a gateway asks of Redis, at Redis itself: MONITOR tells of every command that comes in. */
import { setTimeout as sleep } from "node:timers/promises";
import { RedisWire } from "../stores/redis-wire.ts";

/** `1700000000.123456 [0 127.0.0.1:4711] "evalsha" "…"`; what a script does inside Redis says `lua` instead of an address. */
const FROM_CLIENT = /^\+?[\d.]+ \[\d+ (?!lua\])[^\]]+\] /;
/** A process renews its lease whether there are calls or none. */
const OF_MEMBERS = /"isthmus:members?[:"]/;
/** The last settlements are under way when the last answer is here. */
const SETTLE_MS = 300;

/** Whether a line of MONITOR is a trip that calls are the cause of. `admit` names members, too, but after its keys. */
export function isTrip(line: string): boolean {
  if (!FROM_CLIENT.test(line)) return false;
  const [, , , firstKey = ""] = line.slice(line.indexOf("] ") + 2).split(" ");
  return !OF_MEMBERS.test(firstKey);
}

/** How many trips were made while `work` ran. */
export async function countTrips(port: number, work: () => Promise<void>): Promise<number> {
  const wire = await RedisWire.connect(port);
  let trips = 0;
  try {
    await wire.ask("MONITOR");
    wire.onLine((line) => {
      if (isTrip(line)) trips++;
    });
    await work();
    await sleep(SETTLE_MS);
  } finally {
    wire.close();
  }
  return trips;
}
