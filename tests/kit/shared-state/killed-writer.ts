/** A process that writes to a SQLite file and is killed at a fault point. Arguments: the file, the point. */
import { armFaultPoints } from "../../../src/contract/index.ts";
import { createMemorySharedState } from "../../../src/stores/memory/index.ts";
import { openSqlite } from "../../../src/stores/sqlite/connection.ts";
import { createSqliteSharedState } from "../../../src/stores/sqlite/shared-state.ts";

const [file = "", point] = process.argv.slice(2);
const connection = await openSqlite(file);
const clock = { now: () => performance.now() };
const state = createSqliteSharedState({ connection, clock, fleeting: createMemorySharedState({ clock }) });
const ttlMs = 600_000;

await state.members.join({ id: "writer", address: "" }, ttlMs);
await state.calls.admit({ call: "c1", member: "writer", session: "s", facts: "1", ttlMs });
await state.logs.append("outbox:s", [{ sequence: 1, text: "one" }], { maxItems: 9, maxBytes: 99, ttlMs });
armFaultPoints((reached) => {
  if (reached === point) process.kill(process.pid, "SIGKILL");
});
const once = { key: "k", digest: "d", ttlMs };
await state.entries.claim("session:s", "writer", { value: "v1", ttlMs });
await state.calls.admit({ call: "c2", member: "writer", session: "s", facts: "2", ttlMs, once });
await state.calls.settle({ call: "c2", session: "s", once: { key: "k", answer: "{}", ttlMs } });
// Only a point that is never reached gets here.
process.exit(3);
