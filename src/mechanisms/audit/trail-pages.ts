/** A whole trail in pieces, in the order in which it is verified: checkpoints, heads, then the blocks of one chain after another. */
import type { AuditBlock, AuditCheckpoint, AuditHead, AuditRows } from "../../contract/index.ts";

export type TrailItem =
  | ({ readonly kind: "checkpoint" } & AuditCheckpoint)
  | ({ readonly kind: "head" } & AuditHead)
  | ({ readonly kind: "block" } & AuditBlock);

/** Where the next piece begins. */
export type TrailCursor =
  | { readonly phase: "checkpoints"; readonly from: number }
  | { readonly phase: "heads"; readonly after: string }
  | { readonly phase: "writers"; readonly after: string }
  | { readonly phase: "blocks"; readonly writer: string; readonly from: number };

export type TrailPage = { readonly items: readonly TrailItem[]; readonly next?: TrailCursor };

export const TRAIL_START: TrailCursor = { phase: "checkpoints", from: 1 };

const SMALL_ITEMS = 1_000;
/** A block has up to some hundred kilobytes. */
const BLOCKS = 32;
/** Of the blocks of a page, in characters. */
const PAGE_SIZE = 2_097_152;

export async function trailPage(rows: AuditRows, cursor: TrailCursor): Promise<TrailPage> {
  switch (cursor.phase) {
    case "checkpoints": {
      const found = await rows.checkpoints(cursor.from, SMALL_ITEMS);
      const items = found.map((one) => ({ kind: "checkpoint" as const, ...one }));
      const last = found.at(-1);
      return { items, next: last ? { phase: "checkpoints", from: last.number + 1 } : { phase: "heads", after: "" } };
    }
    case "heads": {
      const found = await rows.heads(cursor.after, SMALL_ITEMS);
      const items = found.map((one) => ({ kind: "head" as const, ...one }));
      const last = found.at(-1);
      return { items, next: last ? { phase: "heads", after: last.writer } : { phase: "writers", after: "" } };
    }
    case "writers": {
      const [writer] = await rows.writers(cursor.after, 1);
      return writer === undefined ? { items: [] } : { items: [], next: { phase: "blocks", writer, from: 0 } };
    }
    case "blocks": {
      const { writer } = cursor;
      const read = await rows.chain(writer, cursor.from, BLOCKS);
      const found = firstOf(read);
      const items = found.map((one) => ({ kind: "block" as const, ...one }));
      const last = found.at(-1);
      const isMore = last !== undefined && (read.length === BLOCKS || found.length < read.length);
      return {
        items,
        next: isMore ? { phase: "blocks", writer, from: last.number + 1 } : { phase: "writers", after: writer },
      };
    }
  }
}

/** At least one, where there is any. */
function firstOf(blocks: readonly AuditBlock[]): readonly AuditBlock[] {
  let size = 0;
  const end = blocks.findIndex(({ lines }, index) => {
    size += lines.length;
    return index > 0 && size > PAGE_SIZE;
  });
  return end === -1 ? blocks : blocks.slice(0, end);
}

export async function* walkTrail(rows: AuditRows): AsyncGenerator<TrailItem> {
  for (let cursor: TrailCursor | undefined = TRAIL_START; cursor; ) {
    const page: TrailPage = await trailPage(rows, cursor);
    yield* page.items;
    cursor = page.next;
  }
}
