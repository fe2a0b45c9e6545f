/** What is older than it is to be kept goes, from the beginning of the trail on, a little at a time. */
import type { AuditEdge, AuditRows, OldBlock } from "../../contract/index.ts";

export type Removal = {
  /** Of each chain that loses blocks. */
  readonly edges: readonly AuditEdge[];
  readonly sequence: number;
  /** When the last event of them happened. */
  readonly until: number;
  /** There may be more. */
  readonly isFull: boolean;
};

/** What one transaction removes, with its part of the index: others wait for it. */
const MAX_BLOCKS = 256;
const MAX_EVENTS = 4_096;

/**
 * The first blocks of all, as far as every event of them is older than `before`: then it is the beginning of each chain, too.
 * Undefined where there are none.
 */
export async function findOld(rows: Pick<AuditRows, "oldest">, before: number): Promise<Removal | undefined> {
  const found = await rows.oldest(MAX_BLOCKS);
  const old = found.slice(0, endOf(found, before));
  const last = old.at(-1);
  if (!last) return undefined;
  const edges = new Map(old.map(({ writer, number, hash }) => [writer, { writer, number, hash }]));
  return {
    edges: [...edges.values()],
    sequence: last.sequence,
    until: old.reduce((latest, { until }) => Math.max(latest, until), 0),
    isFull: old.length === MAX_BLOCKS || old.length < countOld(found, before),
  };
}

function endOf(blocks: readonly OldBlock[], before: number): number {
  let events = 0;
  const end = blocks.findIndex(({ until, count }, index) => {
    events += count;
    return until >= before || (index > 0 && events > MAX_EVENTS);
  });
  return end === -1 ? blocks.length : end;
}

function countOld(blocks: readonly OldBlock[], before: number): number {
  const end = blocks.findIndex(({ until }) => until >= before);
  return end === -1 ? blocks.length : end;
}
