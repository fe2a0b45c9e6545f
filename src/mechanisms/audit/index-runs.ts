/** Puts blocks into the index that events are found by, many at a time: one by one would cost more than to write them. */
import { faultPoint, type Records, type UnindexedBlock } from "../../contract/index.ts";

/** As many events as a search may look at one by one. */
const RUN_EVENTS = 4_096;
/** A number that is left out belongs to a block that is still being written, or was never written. Older gaps stay empty. */
const GAP_MS = 30_000;

/** Makes runs until less is left than makes one. */
export async function indexRuns(records: Pick<Records, "audit" | "write">, now: number): Promise<void> {
  for (;;) {
    const last = await records.audit.lastRun();
    const after = last?.last ?? 0;
    const blocks = nextRun(await records.audit.unindexed(after, RUN_EVENTS), after, now);
    if (blocks.length === 0) return;
    const run = {
      number: (last?.number ?? 0) + 1,
      last: blocks.at(-1)?.sequence ?? after,
      at: blocks.reduce((least, { at }) => Math.min(least, at), Number.POSITIVE_INFINITY),
      until: blocks.reduce((most, { until }) => Math.max(most, until), 0),
    };
    faultPoint("audit.index.writing");
    // Missed where another process has made the same run.
    await records.write([{ table: "audit", type: "run", run, after }]);
    faultPoint("audit.index.written");
    // It may take a while: others have their turn between two runs.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** None where they are too few. */
function nextRun(blocks: readonly UnindexedBlock[], after: number, now: number): readonly UnindexedBlock[] {
  let [events, expected] = [0, after + 1];
  for (const [index, { sequence, count, until }] of blocks.entries()) {
    if (sequence !== expected && now - until < GAP_MS) return [];
    expected = sequence + 1;
    events += count;
    if (events >= RUN_EVENTS) return blocks.slice(0, index + 1);
  }
  return [];
}
