/**
 * Text that comes in pieces, without the secrets in it. A secret is found however the pieces, or lines, were cut: the end of a
 * piece is held back while it may be the beginning of one. It is looked for in the text as it is, and as it is without escapes.
 */
import { readEscapes, readPlain } from "./read-escapes.ts";

export interface RedactedText {
  /** What can be shown by now. */
  push(piece: string): string;
  /** What is still held back, as it may be shown. */
  readonly rest: string;
}

const [LF, CR] = [10, 13];
const SHOWN = "[secret]";
/** So much of a secret that was cut off is hidden, too. */
const MIN_HIDDEN = 4;
/** Of line breaks inside what may be a secret. */
const MAX_BREAKS = 4 * 1024;

/** A letter of a secret may be an escape, which may be escaped again. */
const MAX_ESCAPED = 8;
/** Whoever searched for less would find it in every other word. */
const MIN_READ = 4;

type Range = { readonly start: number; end: number };

/** `spellings`: of all secrets, without line breaks, longest first. */
export function redactedText(spellings: readonly string[]): RedactedText {
  const longest = spellings[0]?.length ?? 0;
  const meant = meanings(spellings);
  let held = "";

  function push(piece: string): string {
    if (longest === 0) return piece;
    const text = held + piece;
    const { joined, places } = withoutBreaks(text);
    const read = readEscapes(joined);
    const inRead = read ? rangesIn(read.text, meant) : [];
    const found = merged([
      ...rangesIn(joined, spellings),
      ...inRead.map(({ start, end }) => ({ start: read?.starts[start] ?? 0, end: read?.ends[end - 1] ?? 0 })),
    ]);
    const isTooLong = held.length > MAX_ESCAPED * longest + MAX_BREAKS;
    const openRead = read ? Math.min(read.open, read.starts[openIn(read.text, meant)] ?? read.open) : joined.length;
    const open = isTooLong ? joined.length : untorn(Math.min(openIn(joined, spellings), openRead), found);
    const shown = found.filter(({ end }) => end <= open);
    const cut = places[open] ?? text.length;
    held = text.slice(cut);
    return replaced(text.slice(0, cut), shown, places);
  }

  return {
    push,
    get rest() {
      const { joined } = withoutBreaks(held);
      if (joined.length < MIN_HIDDEN) return held;
      return joined.length === held.length ? SHOWN : `${SHOWN}\n`;
    },
  };
}

/** `places`: where each of its characters stands in the text. */
function withoutBreaks(text: string): { joined: string; places: Uint32Array } {
  const places = new Uint32Array(text.length);
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code !== LF && code !== CR) places[length++] = at;
  }
  const joined = length === text.length ? text : text.replace(/[\r\n]+/g, "");
  return { joined, places: places.subarray(0, length) };
}

/** What the spellings are without escapes; those are found in other spellings, too. */
function meanings(spellings: readonly string[]): readonly string[] {
  const read = spellings.map((spelling) => readEscapes(spelling)?.text ?? readPlain(spelling));
  return [...new Set(read)].filter((text) => text.length >= MIN_READ);
}

function rangesIn(text: string, spellings: readonly string[]): readonly Range[] {
  const found: Range[] = [];
  for (const spelling of spellings) {
    for (let at = text.indexOf(spelling); at !== -1; at = text.indexOf(spelling, at + 1)) {
      found.push({ start: at, end: at + spelling.length });
    }
  }
  return found;
}

/** In order, those that overlap as one. */
function merged(found: readonly Range[]): readonly Range[] {
  const joined: Range[] = [];
  for (const range of found.toSorted((a, b) => a.start - b.start)) {
    const last = joined.at(-1);
    if (last && range.start < last.end) last.end = Math.max(last.end, range.end);
    else joined.push({ ...range });
  }
  return joined;
}

/** From where on the text may go on as a secret. */
function openIn(text: string, spellings: readonly string[]): number {
  let open = text.length;
  for (const spelling of spellings) open = Math.min(open, beginningOf(spelling, text));
  return open;
}

/** A secret that was found is not torn apart by that. */
function untorn(open: number, found: readonly Range[]): number {
  const torn = found.find(({ start, end }) => start < open && open < end);
  return torn ? torn.start : open;
}

/** Where the longest end of the text begins with which the spelling begins, too. */
function beginningOf(spelling: string, text: string): number {
  const first = spelling.charAt(0);
  let at = text.indexOf(first, Math.max(0, text.length - spelling.length + 1));
  while (at !== -1 && !spelling.startsWith(text.slice(at))) at = text.indexOf(first, at + 1);
  return at === -1 ? text.length : at;
}

/** A secret that was written over several lines leaves one line break. */
function replaced(text: string, ranges: readonly Range[], places: Uint32Array): string {
  let [shown, from] = ["", 0];
  for (const { start, end } of ranges) {
    const [first, last] = [places[start] ?? text.length, (places[end - 1] ?? text.length) + 1];
    const isBroken = /[\r\n]/.test(text.slice(first, last));
    shown += `${text.slice(from, first)}${SHOWN}${isBroken ? "\n" : ""}`;
    from = last;
  }
  return shown + text.slice(from);
}
