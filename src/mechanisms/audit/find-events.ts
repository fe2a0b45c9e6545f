/** Looks for events, newest first. Each look is bounded: where much must be read to find little, a page is short and has a cursor. */
import { type AuditPlace, type AuditRows, GatewayError } from "../../contract/index.ts";
import { type KeptEvent, readEvent } from "./event-line.ts";
import { wholeLines } from "./short-lines.ts";
import { type Facets, facetsOf, searchTerms } from "./terms.ts";

export type EventFilter = Partial<Facets> & {
  readonly traceId?: string;
  readonly result?: string;
  /** In ms of everybody's clock, both inclusive. */
  readonly from?: number;
  readonly to?: number;
};

export type EventPage = {
  readonly events: readonly KeptEvent[];
  /** There may be more; also where the page is short. */
  readonly next?: string;
};

export type PageWish = { readonly limit: number; readonly cursor?: string };

/** At first; more where blocks are small. */
const FEW_BLOCKS = 8;
const MANY_BLOCKS = 512;
const SMALL_READ = 262_144;
/** What one look may read, in characters. */
const MAX_READ = 67_108_864;
/** Beyond every time that can be written. */
const LATEST = 8.64e15;

/** Throws BAD_CALL for a cursor that is not ours. */
export async function findEvents(
  rows: Pick<AuditRows, "search">,
  filter: EventFilter,
  { limit, cursor }: PageWish,
): Promise<EventPage> {
  const asked = { terms: searchTerms(filter), from: filter.from ?? 0, to: filter.to ?? LATEST };
  const words = wordsOf(filter);
  const events: KeptEvent[] = [];
  let place = cursor === undefined ? undefined : readCursor(cursor);
  let [count, read] = [FEW_BLOCKS, 0];
  for (;;) {
    const before = place && beginningAt(place);
    const found = await rows.search({ ...asked, limit: count, ...(before && { before }) });
    const began = read;
    for (const { at, sequence, lines } of found) {
      const skipped = place?.sequence === sequence ? place.skip : 0;
      place = { at, sequence, skip: 0 };
      read += lines.length;
      if (!words.every((word) => lines.includes(word))) continue;
      const newest = wholeLines(lines, words).reverse();
      for (let index = skipped; index < newest.length; index++) {
        const line = newest[index] ?? "";
        const event = line === "" ? undefined : readEvent(line);
        if (event && isWanted(event, filter)) events.push(event);
        if (events.length === limit) return { events, next: writeCursor({ at, sequence, skip: index + 1 }) };
      }
    }
    if (found.length < count) return { events };
    if (read >= MAX_READ && place) return { events, next: writeCursor(place) };
    if (read - began < SMALL_READ) count = Math.min(count * 4, MANY_BLOCKS);
  }
}

/** What stands in the text of every such event: others need not be taken apart. */
function wordsOf({ traceId, type, actor, server, name, tenant }: EventFilter): readonly string[] {
  return [traceId, type, actor, server, name, tenant].flatMap((word) => (word ? [JSON.stringify(word)] : []));
}

function isWanted(event: KeptEvent, filter: EventFilter): boolean {
  const { traceId, result, from = 0, to = LATEST, ...facets } = filter;
  if (traceId !== undefined && event.trace_id !== traceId) return false;
  if (result !== undefined && event.result !== result) return false;
  const has = facetsOf(event);
  for (const [name, wanted] of Object.entries(facets)) {
    if (wanted !== undefined && has[name as keyof Facets] !== wanted) return false;
  }
  const at = Date.parse(event.timestamp);
  return at >= from && at <= to;
}

/** `skip`: so many events of the block were given, from its newest on; 0: all of them. */
type Cursor = AuditPlace & { readonly skip: number };

function beginningAt({ at, sequence, skip }: Cursor): AuditPlace {
  return skip === 0 ? { at, sequence } : { at, sequence: sequence + 1 };
}

function writeCursor({ at, sequence, skip }: Cursor): string {
  return [at, sequence, skip].map((number) => number.toString(36)).join(".");
}

function readCursor(text: string): Cursor {
  const found = /^([0-9a-z]{1,11})\.([0-9a-z]{1,11})\.([0-9a-z]{1,3})$/.exec(text);
  const [at = Number.NaN, sequence = 0, skip = 0] = (found ?? []).slice(1).map((part) => Number.parseInt(part, 36));
  if (Number.isSafeInteger(at) && Number.isSafeInteger(sequence)) return { at, sequence, skip };
  throw new GatewayError("BAD_CALL", { message: "cursor: expected one that a former answer had as `next`." });
}
