/**
 * Text as whoever reads it understands it: without the escapes of JSON and of URLs, however often it was escaped. Letters are
 * UTF-8 bytes, one character each, because escapes of URLs are.
 */
export type Reading = {
  readonly text: string;
  /** Where what each of its characters was read from begins and ends. */
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  /** From where on more is needed to know what an escape means. */
  readonly open: number;
};

/** Behind any number of backslashes: text that was escaped again has more of them. */
const ESCAPE = /\\+(?:u([0-9a-f]{4})|x([0-9a-f]{2})|(.)|$)|%(?:25)*([0-9a-f]{2})/gis;
/** From the first backslash of a run alone: from each of them, a line of backslashes would be read as often as it is long. */
const UNFINISHED = /(?:(?<!\\)\\+(?:u[0-9a-f]{0,3}|x[0-9a-f]?)?|%(?:25)*[0-9a-f]?)$/i;
/** Line breaks are left out wherever secrets are looked for. */
const MEANINGS: Readonly<Record<string, string>> = { n: "", r: "", t: "\t", b: "\b", f: "\f" };

/** Undefined: it holds no escape. */
export function readEscapes(text: string): Reading | undefined {
  if (!/[\\%]/.test(text)) return undefined;
  const open = UNFINISHED.exec(text)?.index ?? text.length;
  const whole = text.slice(0, open);
  const read: string[] = [];
  const [starts, ends]: [number[], number[]] = [[], []];
  const add = (bytes: string, start: number, end: number) => {
    for (const byte of bytes) {
      read.push(byte);
      starts.push(start);
      ends.push(end);
    }
  };
  let at = 0;
  const addPlain = (to: number) => {
    for (; at < to; at++) add(bytesOf(whole.charCodeAt(at)), at, at + 1);
  };
  for (const { 0: written, 1: letter, 2: byte, 3: sign, 4: percent, index } of whole.matchAll(ESCAPE)) {
    addPlain(index);
    at = index + written.length;
    add(meaningOf({ letter, byte: byte ?? percent, sign }), index, at);
  }
  addPlain(whole.length);
  return { text: read.join(""), starts, ends, open };
}

function meaningOf({
  letter,
  byte,
  sign = "",
}: Readonly<Record<"letter" | "byte" | "sign", string | undefined>>): string {
  if (letter !== undefined) return bytesOf(Number.parseInt(letter, 16));
  if (byte !== undefined) return String.fromCharCode(Number.parseInt(byte, 16));
  return MEANINGS[sign] ?? [...Array(sign.length).keys()].map((at) => bytesOf(sign.charCodeAt(at))).join("");
}

/** Halves of letters one by one, so that it makes no difference whether they were escaped. */
function bytesOf(unit: number): string {
  if (unit < 0x80) return String.fromCharCode(unit);
  if (unit < 0x800) return String.fromCharCode(0xc0 | (unit >> 6), 0x80 | (unit & 0x3f));
  return String.fromCharCode(0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f));
}

/** What has no escapes, as the same bytes. */
export function readPlain(text: string): string {
  return [...Array(text.length).keys()].map((at) => bytesOf(text.charCodeAt(at))).join("");
}
