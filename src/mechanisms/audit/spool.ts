/**
 * A file of this process, for what the store does not have yet. A line is with the kernel when `append` returns: it outlives the
 * process, however that ends. Files are dropped when the store has all of their lines.
 */
import { closeSync, ftruncateSync, futimesSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { makePrivateFolder } from "../../contract/index.ts";
import { type ShortLine, ShortLines } from "./short-lines.ts";

/** A file that has so much, and nothing that the store lacks, is dropped. */
const SEGMENT_BYTES = 1_048_576;

/** What one `append` wrote: up to which event, and how many bytes. */
type Written = { readonly end: number; readonly bytes: number };

type Segment = {
  readonly file: string;
  readonly first: number;
  readonly handle: number;
  readonly short: ShortLines;
  bytes: number;
  end: number;
};

// Invariants:
//  1. The events of all segments, in order, are those from `#segments[0].first` to `#position`, without a gap.
//  2. Only the last segment grows.
//  3. `#written` is what was appended and is not settled yet, in order; `#bytes` is the sum of it.
export class Spool {
  readonly #folder: string;
  readonly #writer: string;
  readonly #segments: Segment[] = [];
  /** How many events were ever appended. */
  #position = 0;
  #written: Written[] = [];
  #bytes = 0;

  constructor(folder: string, writer: string) {
    this.#folder = folder;
    this.#writer = writer;
    makePrivateFolder(folder);
  }

  /** What is in the files and not in the store; up to a file more is there. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Throws where they could not be written whole, or not within `room`, in bytes: then nothing of them is there. */
  append(entries: readonly ShortLine[], room = Number.POSITIVE_INFINITY): void {
    const segment = this.#open();
    const known = segment.short.size;
    let bytes = 0;
    try {
      const lines: string[] = [];
      for (const entry of entries) segment.short.push(entry, lines);
      const text = `${lines.join("\n")}\n`;
      bytes = Buffer.byteLength(text);
      if (bytes > room) throw new Error("too many events wait for the store");
      const written = writeSync(segment.handle, text, segment.bytes, "utf8");
      if (written !== bytes) throw new Error("the disk took only a part of what was written");
      segment.bytes += bytes;
    } catch (error) {
      segment.short.forget(known);
      ftruncateSync(segment.handle, segment.bytes);
      throw error;
    }
    this.#position += entries.length;
    segment.end = this.#position;
    this.#written.push({ end: this.#position, bytes });
    this.#bytes += bytes;
  }

  /** The store has so many of its events. */
  settle(position: number): void {
    const left = this.#written.findIndex(({ end }) => end > position);
    for (const { bytes } of this.#written.splice(0, left === -1 ? this.#written.length : left)) this.#bytes -= bytes;
    for (const segment of [...this.#segments]) {
      const isLast = segment === this.#segments.at(-1);
      if (segment.end > position || (isLast && segment.bytes < SEGMENT_BYTES / 4)) return;
      this.#drop();
    }
  }

  /** Tells others, who see nothing but the file, that its process is alive. */
  touch(): void {
    const now = new Date();
    for (const { handle } of this.#segments) futimesSync(handle, now, now);
  }

  /** `isSettled`: the store has everything. Else the files stay for whoever comes next. */
  close(isSettled: boolean): void {
    while (isSettled && this.#segments.length > 0) this.#drop();
    for (const { handle } of this.#segments.splice(0)) closeSync(handle);
  }

  #open(): Segment {
    const last = this.#segments.at(-1);
    if (last && last.bytes < SEGMENT_BYTES) return last;
    const first = this.#position;
    const file = join(this.#folder, spoolName(this.#writer, first));
    const segment = { file, first, handle: openSync(file, "wx", 0o600), short: new ShortLines(), bytes: 0, end: first };
    this.#segments.push(segment);
    return segment;
  }

  #drop(): void {
    const segment = this.#segments.shift();
    if (!segment) return;
    closeSync(segment.handle);
    rmSync(segment.file, { force: true });
  }
}

const ENDING = ".spool";

function spoolName(writer: string, first: number): string {
  return `${writer}.${first}${ENDING}`;
}

/** Undefined for files that are no part of a spool. */
export function parseSpoolName(name: string): { readonly writer: string; readonly first: number } | undefined {
  const found = /^([A-Za-z0-9_-]+)\.(\d+)\.spool$/.exec(name);
  return found ? { writer: found[1] as string, first: Number(found[2]) } : undefined;
}
