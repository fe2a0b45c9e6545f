/** How events become a block, and what its hash says about it. */
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import type { AuditBlock, AuditHead } from "../../contract/index.ts";
import { readEvent } from "./event-line.ts";
import { type ShortLine, ShortLines } from "./short-lines.ts";
import type { Signer } from "./signing.ts";
import { facetsOf, facetTerms, traceTerm } from "./terms.ts";

/** An event on its way into a block. */
export type Entry = ShortLine & {
  readonly at: number;
  readonly trace: number;
  /** The same list for events that are found by the same words. */
  readonly terms: readonly number[];
};

export const MAX_BLOCK_EVENTS = 256;
/** Whoever looks for a time finds its block by the first event; so much later at most comes the last. */
const MAX_BLOCK_SPAN_MS = 60_000;

/** In characters. */
const MAX_BLOCK_SIZE = 262_144;

export type MadeBlock = { readonly block: AuditBlock; readonly terms: readonly number[] };

/** `fromSpool`: the events are the next ones of the writer's spool. There is at least one. */
export function makeBlock(
  head: AuditHead,
  entries: readonly Entry[],
  { signer, fromSpool }: { readonly signer: Signer; readonly fromSpool: boolean },
): MadeBlock {
  const short = new ShortLines();
  const written: string[] = [];
  for (const entry of entries) short.push(entry, written);
  let [at, until] = [Number.POSITIVE_INFINITY, 0];
  for (const entry of entries) [at, until] = [Math.min(at, entry.at), Math.max(until, entry.at)];
  const unsigned = {
    writer: head.writer,
    number: head.number + 1,
    count: entries.length,
    spooled: head.spooled + (fromSpool ? entries.length : 0),
    at,
    until,
    previous: head.hash,
    marks: marksOf(written),
    lines: written.join("\n"),
  };
  const hash = hashOf(unsigned);
  return { block: { ...unsigned, hash, signature: signer.sign(hash) }, terms: termsOf(entries) };
}

/** Everything of a block is in it, beside the hash and the signature themselves. */
export function hashOf(block: Omit<AuditBlock, "hash" | "signature">): string {
  const { writer, number, count, spooled, at, until, previous, marks, lines } = block;
  const head = JSON.stringify([previous, writer, number, count, spooled, at, until]);
  return createHash("sha256").update(`${head}\n${marks}\n`, "utf8").update(lines, "utf8").digest("hex");
}

const MARK_BYTES = 4;

/** Of all lines, those that events have in common among them. */
function marksOf(lines: readonly string[]): string {
  const marks = Buffer.allocUnsafe(lines.length * MARK_BYTES);
  let place = 0;
  for (const line of lines) place = marks.writeUInt32BE(crc32(line), place);
  return marks.toString("hex");
}

/** It tells which line was altered and proves nothing: for that there is the hash. */
export function markOf(line: string): string {
  return crc32(line)
    .toString(16)
    .padStart(MARK_BYTES * 2, "0");
}

export function headOf({ writer, number, hash, spooled }: AuditBlock): AuditHead {
  return { writer, number, hash, spooled };
}

/** Each once. */
function termsOf(entries: readonly Entry[]): readonly number[] {
  const seen = new Set<readonly number[]>();
  const terms = new Set<number>();
  for (const { trace, terms: words } of entries) {
    terms.add(trace);
    if (seen.has(words)) continue;
    seen.add(words);
    for (const word of words) terms.add(word);
  }
  return [...terms];
}

/** The events that make the next block: a part from the beginning of the list. */
export function nextOf(entries: readonly Entry[], from: number): readonly Entry[] {
  const first = entries[from]?.at ?? 0;
  let [end, size] = [from, 0];
  for (const limit = Math.min(entries.length, from + MAX_BLOCK_EVENTS); end < limit; end++) {
    const { at, line, template = "", filler = "" } = entries[end] as Entry;
    size += line.length + template.length + filler.length;
    const fits = size <= MAX_BLOCK_SIZE && Math.abs(at - first) < MAX_BLOCK_SPAN_MS / 2;
    if (!fits && end > from) break;
  }
  return entries.slice(from, end);
}

/** An event that was read back. What cannot be understood is kept as it is, and found by nothing but its time. */
export function entryOf(line: string): Entry {
  const event = readEvent(line);
  if (!event) return { line, at: Date.now(), trace: 0, terms: [] };
  return {
    line,
    at: Date.parse(event.timestamp),
    trace: traceTerm(event.trace_id),
    terms: facetTerms(facetsOf(event)),
  };
}
