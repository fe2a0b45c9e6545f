/** What a process of its own does at a database, until its end or until the point at which it kills itself. */
import { once } from "node:events";
import pg from "pg";
import { armFaultPoints } from "../../../src/contract/index.ts";
import { createBlobs } from "../../../src/mechanisms/blobs/index.ts";
import { systemClock } from "../../../src/server/clock.ts";
import { KeptLog } from "../../kit/quiet.ts";
import { makeDelivery } from "./mail.ts";
import type { PeerWork } from "./peers.ts";
import { NOW, type OpenStore, openAt } from "./rig.ts";

const { role, place, point, target = "" } = JSON.parse(process.argv[2] ?? "{}") as PeerWork;
const store = await openAt(place);
const { records, blobBytes } = store;
const blobs = createBlobs({ rows: records.blobs, bytes: blobBytes, clock: systemClock, log: new KeptLog() });
const kept = role === "drop" ? await blobs.put(Buffer.from("kept"), { type: "text/plain", maxBytes: 10 }) : undefined;
armFaultPoints((reached) => {
  if (reached === point) process.kill(process.pid, "SIGKILL");
});
const roles: Record<PeerWork["role"], () => Promise<unknown>> = {
  open: async () => undefined,
  take: () => takeAll(store),
  send: () => sendOne(store),
  put: () => blobs.put(Buffer.alloc(600_000, "x"), { type: "text/plain", maxBytes: 1_000_000 }),
  drop: () => blobs.drop(kept?.id ?? ""),
};
await roles[role]();
await store.close();
console.log(`${role} over`);

/** Takes until nothing is left, and notes down what it takes. */
async function takeAll({ records: { deliveries } }: OpenStore): Promise<void> {
  const notes = new pg.Client(place);
  await notes.connect();
  while ((await deliveries.count()) > 0) {
    for (const { id, order } of await deliveries.take(NOW, 3, 60_000)) {
      await notes.query("insert into notes (id, order_key, process) values ($1, $2, $3)", [id, order, process.pid]);
      await deliveries.done(id);
    }
  }
  await notes.end();
}

async function sendOne(open: OpenStore): Promise<void> {
  const delivery = makeDelivery(open);
  delivery.start();
  await delivery.add({ id: "m1", channel: "hook", target, body: "hello", ttlMs: 600_000 });
  // Its sockets and timers do not hold it, and it is killed before anything else ends it.
  await once(process.stdin, "never", { signal: AbortSignal.timeout(20_000) });
}
