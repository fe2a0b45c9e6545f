import type { Clock, LogBounds, LogItem, Logs } from "../../contract/index.ts";
import { ExpiringMap } from "./expiring-map.ts";

type Kept = { items: LogItem[]; bytes: number };

export class MemoryLogs implements Logs {
  readonly #kept: ExpiringMap<Kept>;

  constructor(clock: Clock) {
    this.#kept = new ExpiringMap(clock);
  }

  async append(log: string, items: readonly LogItem[], bounds: LogBounds): Promise<void> {
    const kept = this.#kept.get(log) ?? { items: [], bytes: 0 };
    for (const item of items) add(kept, item);
    trim(kept, bounds);
    this.#kept.set(log, kept, bounds.ttlMs);
  }

  async read(log: string, after: number): Promise<readonly LogItem[]> {
    return this.#kept.get(log)?.items.filter((item) => item.sequence > after) ?? [];
  }

  async remove(log: string, sequence: number): Promise<void> {
    const kept = this.#kept.get(log);
    const index = kept?.items.findIndex((item) => item.sequence === sequence) ?? -1;
    if (kept === undefined || index === -1) return;
    for (const { text } of kept.items.splice(index, 1)) kept.bytes -= Buffer.byteLength(text);
  }

  async drop(log: string): Promise<void> {
    this.#kept.delete(log);
  }
}

/** A number that is there already is the same item, given again by somebody who heard nothing the first time. */
function add(kept: Kept, item: LogItem): void {
  let place = kept.items.length;
  while (place > 0 && sequenceAt(kept, place - 1) > item.sequence) place -= 1;
  if (place > 0 && sequenceAt(kept, place - 1) === item.sequence) return;
  kept.items.splice(place, 0, item);
  kept.bytes += Buffer.byteLength(item.text);
}

function sequenceAt(kept: Kept, index: number): number {
  return kept.items[index]?.sequence ?? Number.NEGATIVE_INFINITY;
}

function trim(kept: Kept, bounds: LogBounds): void {
  let surplus = 0;
  for (const { text } of kept.items) {
    if (kept.items.length - surplus <= bounds.maxItems && kept.bytes <= bounds.maxBytes) break;
    kept.bytes -= Buffer.byteLength(text);
    surplus += 1;
  }
  if (surplus > 0) kept.items.splice(0, surplus);
}
