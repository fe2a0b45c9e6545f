/** The book as text: one pin a line, so that a person can read it and a version control system compare it. */
import { MAX_TEXT, type Print } from "./fingerprint.ts";
import { MAX_PRINTS, type PendingPrint, type Pin, PinBook } from "./pin-book.ts";

const MAX_NAME = 1024;
const MAX_DIGEST = 128;
const MAX_WORD = 64;
const MAX_WHAT = 16;

/**
 * Throws an Error that says what is wrong with it. Checked by hand: every start may read thousands of pins, and a schema
 * takes longer for them than JSON itself.
 */
export function parseBook(text: string): PinBook {
  const whole = asTable(parseJson(text), "the whole");
  if (whole.version !== 1) throw fault("version", "expected 1");
  const book = new PinBook();
  for (const [index, pin] of asList(whole.pins, "pins").entries()) book.put(asPin(pin, `pins.${index}`));
  return book;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("is no JSON");
  }
}

function asPin(value: unknown, place: string): Pin {
  const { server, kind, name, since, prints, pending = [], acceptedAt, goneAt } = asTable(value, place);
  if (kind !== "tool" && kind !== "prompt") throw fault(`${place}.kind`, 'expected "tool" or "prompt"');
  return {
    server: asText(server, MAX_NAME, place, "server"),
    kind,
    name: asText(name, MAX_NAME, place, "name"),
    since: asText(since, MAX_WORD, place, "since"),
    prints: asList(prints, `${place}.prints`, MAX_PRINTS).map((print, index) =>
      asPrint(print, `${place}.prints.${index}`),
    ),
    pending: asList(pending, `${place}.pending`, MAX_PRINTS).map((print, index) =>
      asPending(print, `${place}.pending.${index}`),
    ),
    ...(acceptedAt !== undefined && { acceptedAt: asText(acceptedAt, MAX_WORD, place, "acceptedAt") }),
    ...(goneAt !== undefined && { goneAt: asText(goneAt, MAX_WORD, place, "goneAt") }),
  };
}

function asPrint(value: unknown, place: string): Print {
  const { digest, parts, texts, rule } = asTable(value, place);
  return {
    digest: asText(digest, MAX_DIGEST, place, "digest"),
    parts: asTexts(parts, `${place}.parts`, MAX_DIGEST),
    // Books of before have none.
    ...(texts !== undefined && { texts: asTexts(texts, `${place}.texts`, MAX_TEXT) }),
    ...(typeof rule === "number" && { rule }),
  };
}

function asPending(value: unknown, place: string): PendingPrint {
  const { since, what, was } = asTable(value, place);
  return {
    ...asPrint(value, place),
    since: asText(since, MAX_WORD, place, "since"),
    what: asList(what, `${place}.what`, MAX_WHAT).map((word, index) => asText(word, MAX_WORD, place, `what.${index}`)),
    ...(was !== undefined && { was: asText(was, Number.POSITIVE_INFINITY, place, "was") }),
  };
}

function asTexts(value: unknown, place: string, most: number): Print["parts"] {
  const parts = asTable(value, place);
  for (const key of Object.keys(parts)) {
    asText(key, MAX_WORD, place, "key");
    asText(parts[key], most, place, key);
  }
  return parts as Print["parts"];
}

function asTable(value: unknown, place: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw fault(place, "expected an object");
  return value as Record<string, unknown>;
}

function asList(value: unknown, place: string, most = Number.POSITIVE_INFINITY): readonly unknown[] {
  if (!Array.isArray(value)) throw fault(place, "expected a list");
  if (value.length > most) throw fault(place, `expected at most ${most}`);
  return value;
}

function asText(value: unknown, most: number, place: string, key: string): string {
  if (typeof value !== "string") throw fault(`${place}.${key}`, "expected a string");
  if (value.length > most) throw fault(`${place}.${key}`, `expected at most ${most} characters`);
  return value;
}

function fault(place: string, expected: string): Error {
  return new Error(`is no book of pins (${place}: ${expected})`);
}

/** So many pins are written out in one go: there may be very many. */
const PIECE = 200;

/** The text of a book in pieces: whoever writes it lets others go on between them. */
export function* bookPieces(book: PinBook): Iterable<string> {
  let lines: string[] = [];
  let before = '{"version":1,"pins":[\n';
  for (const pin of book.all()) {
    lines.push(JSON.stringify(lineOf(pin)));
    if (lines.length < PIECE) continue;
    yield before + lines.join(",\n");
    before = ",\n";
    lines = [];
  }
  if (lines.length > 0) yield `${before}${lines.join(",\n")}\n]}\n`;
  else yield before === ",\n" ? "\n]}\n" : `${before}\n]}\n`;
}

function lineOf({ pending, ...pin }: Pin) {
  return pending.length > 0 ? { ...pin, pending } : pin;
}
