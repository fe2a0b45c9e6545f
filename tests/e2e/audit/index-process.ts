/** Writes as many events as make a run of the index, makes it, and dies at the moment that it is told. */
import { armFaultPoints } from "../../../src/contract/index.ts";
import { entryOf, headOf, makeBlock } from "../../../src/mechanisms/audit/block.ts";
import { eventLine } from "../../../src/mechanisms/audit/event-line.ts";
import { passingSigner } from "../../../src/mechanisms/audit/index.ts";
import { indexRuns } from "../../../src/mechanisms/audit/index-runs.ts";
import { openSqlite } from "../../../src/stores/sqlite/connection.ts";
import { openSqliteRecords } from "../../../src/stores/sqlite/records.ts";

const [file = "", point = ""] = process.argv.slice(2);
const EVENTS = 4_200;

const connection = await openSqlite(file);
const records = await openSqliteRecords({ connection });
const signer = passingSigner();
let head = { writer: "w_1_a", number: -1, hash: "", spooled: 0 };
for (let index = 0; index < EVENTS; index += 100) {
  const entries = Array.from({ length: 100 }, (_, at) => entryOf(lineOf(index + at)));
  const { block, terms } = makeBlock(head, entries, { signer, fromSpool: true });
  await records.write([{ table: "audit", type: "block", block, terms }]);
  head = headOf(block);
}
armFaultPoints((reached) => {
  if (reached === point) process.kill(process.pid, "SIGKILL");
});
await indexRuns(records, Number.MAX_SAFE_INTEGER);

function lineOf(index: number): string {
  return eventLine(
    {
      type: "TOOL_EXECUTED",
      tenant: "default",
      actor: { type: "agent", id: index === EVENTS - 1 ? "last" : "ann" },
      target: { server: "files", name: "read" },
      result: "SUCCESS",
      details: {},
    },
    { at: 1_800_000_000_000 + index, id: `e${index}`, traceId: "0d6f8f0e-6f0b-4b57-9b2c-6a5d8c1b7e11" },
  );
}
