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
export class Spool {
  readonly #folder: string;
  readonly #writer: string;
  readonly #segments: Segment[] = [];
  /** How many events were ever appended. */
  #position = 0;

  constructor(folder: string, writer: string) {
    this.#folder = folder;
    this.#writer = writer;
    makePrivateFolder(folder);
  }

  /** Throws where they could not be written whole: then nothing of them is there. */
  append(entries: readonly ShortLine[]): void {
    const segment = this.#open();
    const known = segment.short.size;
    try {
      const lines: string[] = [];
      for (const entry of entries) segment.short.push(entry, lines);
      const text = `${lines.join("\n")}\n`;
      const written = writeSync(segment.handle, text, segment.bytes, "utf8");
      const bytes = written === text.length ? written : Buffer.byteLength(text);
      if (written !== bytes) throw new Error("the disk took only a part of what was written");
      segment.bytes += bytes;
    } catch (error) {
      segment.short.forget(known);
      ftruncateSync(segment.handle, segment.bytes);
      throw error;
    }
    this.#position += entries.length;
    segment.end = this.#position;
  }

  /** The store has so many of its events. */
  settle(position: number): void {
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
