/**
 * A whole trail in pieces, in the order in which it is verified: checkpoints, heads, then the blocks of one chain after another, and last the
 * checkpoints that were written meanwhile: they say what was removed while the trail was read.
 */
import type { AuditBlock, AuditCheckpoint, AuditHead, AuditRows } from "../../contract/index.ts";

export type TrailItem =
  | ({ readonly kind: "checkpoint" } & AuditCheckpoint)
  | ({ readonly kind: "later" } & AuditCheckpoint)
  | ({ readonly kind: "head" } & AuditHead)
  | ({ readonly kind: "block" } & AuditBlock);

/** Where the next piece begins. `seen`: the last checkpoint of the beginning. */
export type TrailCursor =
  | { readonly phase: "checkpoints"; readonly from: number }
  | { readonly phase: "heads"; readonly after: string; readonly seen: number }
  | { readonly phase: "writers"; readonly after: string; readonly seen: number }
  | { readonly phase: "blocks"; readonly writer: string; readonly from: number; readonly seen: number }
  | { readonly phase: "later"; readonly from: number };

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
      if (last) return { items, next: { phase: "checkpoints", from: last.number + 1 } };
      return { items, next: { phase: "heads", after: "", seen: cursor.from - 1 } };
    }
    case "heads": {
      const { seen } = cursor;
      const found = await rows.heads(cursor.after, SMALL_ITEMS);
      const items = found.map((one) => ({ kind: "head" as const, ...one }));
      const last = found.at(-1);
      return {
        items,
        next: last ? { phase: "heads", after: last.writer, seen } : { phase: "writers", after: "", seen },
      };
    }
    case "writers": {
      const { seen } = cursor;
      const [writer] = await rows.writers(cursor.after, 1);
      if (writer === undefined) return { items: [], next: { phase: "later", from: seen + 1 } };
      return { items: [], next: { phase: "blocks", writer, from: 0, seen } };
    }
    case "blocks": {
      const { writer, seen } = cursor;
      const read = await rows.chain(writer, cursor.from, BLOCKS);
      const found = firstOf(read);
      const items = found.map((one) => ({ kind: "block" as const, ...one }));
      const last = found.at(-1);
      const isMore = last !== undefined && (read.length === BLOCKS || found.length < read.length);
      return {
        items,
        next: isMore
          ? { phase: "blocks", writer, from: last.number + 1, seen }
          : { phase: "writers", after: writer, seen },
      };
    }
    case "later": {
      const found = await rows.checkpoints(cursor.from, SMALL_ITEMS);
      const items = found.map((one) => ({ kind: "later" as const, ...one }));
      const last = found.at(-1);
      return found.length < SMALL_ITEMS || !last
        ? { items }
        : { items, next: { phase: "later", from: last.number + 1 } };
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
