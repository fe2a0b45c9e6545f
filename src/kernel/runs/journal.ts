/**
 * What a run has said and may have to say again. Bounded: see `shrink`.
 *
 * Invariants:
 *  1. Entries stand in the order of their cursors; cursors only grow, and a cursor is never used twice.
 *  2. Every cursor below `next` is either in the journal, or was `taken` by a reader, or was counted as dropped.
 *  3. `bytes` is the sum of the entries' bytes.
 */
import type { CallEvent } from "../../contract/index.ts";

export type JournalEntry = { readonly cursor: number; readonly event: CallEvent; readonly bytes: number };

export type JournalLimits = { readonly maxEvents: number; readonly maxBytes: number };

export class Journal {
  readonly #limits: JournalLimits;
  #entries: JournalEntry[] = [];
  #bytes = 0;

  constructor(limits: JournalLimits) {
    this.#limits = limits;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#entries.length;
  }

  add(cursor: number, event: CallEvent): void {
    const bytes = sizeOf(event);
    this.#entries.push({ cursor, event, bytes });
    this.#bytes += bytes;
  }

  /** The first entry at or after `cursor`. */
  from(cursor: number): JournalEntry | undefined {
    const index = this.#indexFrom(cursor);
    return this.#entries[index];
  }

  countFrom(cursor: number): number {
    return this.#entries.length - this.#indexFrom(cursor);
  }

  #indexFrom(cursor: number): number {
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#entries[middle] as JournalEntry).cursor < cursor) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Forgets what stands before `cursor`: it was taken by a reader that will not come back for it. */
  forgetBefore(cursor: number): void {
    const gone = this.#entries.splice(0, this.#indexFrom(cursor));
    for (const entry of gone) this.#bytes -= entry.bytes;
  }

  get isFull(): boolean {
    return this.#entries.length > this.#limits.maxEvents || this.#bytes > this.#limits.maxBytes;
  }

  /** Half full with what no reader has taken yet: time to pause the upstream. What was taken and is kept does not count. */
  isBehind(taken: number): boolean {
    const first = this.#indexFrom(taken);
    if (this.#entries.length - first > this.#limits.maxEvents / 2) return true;
    let bytes = 0;
    for (let index = first; index < this.#entries.length; index++)
      bytes += (this.#entries[index] as JournalEntry).bytes;
    return bytes > this.#limits.maxBytes / 2;
  }

  /**
   * Brings the journal under its bound. First goes what a reader has taken once, then progress, log and status that
   * nobody took, oldest first; those are told to `onDrop`. What `isPinned` stays. False: it is still too large.
   */
  shrink(taken: number, isPinned: (event: CallEvent) => boolean, onDrop: (event: CallEvent) => void): boolean {
    this.#evict(
      (entry) => entry.cursor < taken && !isPinned(entry.event),
      () => undefined,
    );
    this.#evict((entry) => entry.cursor >= taken && isDroppable(entry.event), onDrop);
    return !this.isFull;
  }

  #evict(mayGo: (entry: JournalEntry) => boolean, onDrop: (event: CallEvent) => void): void {
    if (!this.isFull) return;
    const kept: JournalEntry[] = [];
    let left = this.#entries.length;
    for (const entry of this.#entries) {
      const isOver = left > this.#limits.maxEvents || this.#bytes > this.#limits.maxBytes;
      if (isOver && mayGo(entry)) {
        this.#bytes -= entry.bytes;
        left--;
        onDrop(entry.event);
      } else kept.push(entry);
    }
    this.#entries = kept;
  }
}

function isDroppable(event: CallEvent): boolean {
  return event.type === "progress" || event.type === "log" || event.type === "status";
}

const ENTRY_BYTES = 64;

function sizeOf(event: CallEvent): number {
  switch (event.type) {
    case "ask":
      return event.asks.reduce((sum, ask) => sum + ask.input.text.length, ENTRY_BYTES);
    case "status":
    case "error":
      return ENTRY_BYTES;
    default:
      return ENTRY_BYTES + event.payload.text.length;
  }
}
