import { findMember } from "./json/members.ts";
import { JsonFault } from "./json/scanner.ts";
import { stringOf } from "./json/text.ts";
import { refuseRepeatedKeys } from "./json/unique.ts";

/**
 * Bytes as they came. Parsed at most once, on demand; changed only by splicing.
 * `text` holds one character per byte, and so does every JSON text given to `splice` (see `jsonText`).
 */
export interface Payload {
  readonly text: string;
  readonly bytes: Uint8Array;
  /** What surrounded these bytes in the message they were cut from. A hop of the same dialect relays it too. */
  readonly frame: Frame | undefined;
  /** The parsed value. Throws JsonFault on a repeated key anywhere: what is read must be what is sent. */
  value(): unknown;
  /** Replaces the value at `path`, or removes it when `json` is absent. Members that do not exist are added. */
  splice(path: readonly string[], json?: string): Payload;
  /** The text of the value at `path`, or undefined. */
  at(path: readonly string[]): string | undefined;
}

/** `text` is the whole message; the payload stood from `start` to `end`, the message's id at `id`. */
export type Frame = {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly id: { readonly start: number; readonly end: number } | undefined;
};

class TextPayload implements Payload {
  readonly text: string;
  readonly frame: Frame | undefined;
  #value: { readonly parsed: unknown } | undefined;

  constructor(text: string, frame: Frame | undefined) {
    this.text = text;
    this.frame = frame;
  }

  get bytes(): Uint8Array {
    return Buffer.from(this.text, "latin1");
  }

  value(): unknown {
    if (!this.#value) {
      refuseRepeatedKeys(this.text);
      this.#value = { parsed: JSON.parse(stringOf(this.text)) };
    }
    return this.#value.parsed;
  }

  splice(path: readonly string[], json?: string): Payload {
    return new TextPayload(spliceText(this.text, path, json), this.frame);
  }

  at(path: readonly string[]): string | undefined {
    let from = 0;
    for (const [depth, key] of path.entries()) {
      const span = findMember(this.text, from, key, depth + 1)?.span;
      if (!span) return undefined;
      from = span.start;
      if (depth === path.length - 1) return this.text.slice(span.start, span.end);
    }
    return this.text;
  }
}

/** A payload over text of one character per byte that was skimmed already. */
export function payload(text: string, frame?: Frame): Payload {
  return new TextPayload(text, frame);
}

/** As `at`, for what may just as well not be there: undefined, too, where two readers could read it differently. */
export function unambiguousAt(input: Payload, path: readonly string[]): string | undefined {
  try {
    return input.at(path);
  } catch (error) {
    if (error instanceof JsonFault) return undefined;
    throw error;
  }
}

/** Replaces, adds or removes one value in JSON text; everything else stays byte for byte. */
export function spliceText(text: string, path: readonly string[], json?: string): string {
  return spliceAt(text, leading(text), path, json);
}

function spliceAt(text: string, start: number, path: readonly string[], json: string | undefined): string {
  const [key, ...rest] = path;
  if (key === undefined) return json ?? text;
  const found = findMember(text, start, key);
  if (!found) return text;
  const { span } = found;
  if (span && rest.length > 0) return spliceAt(text, span.start, rest, json);
  if (span && json !== undefined) return text.slice(0, span.start) + json + text.slice(span.end);
  if (span) return removeMember(text, span);
  if (json === undefined) return text;
  const added = rest.reduceRight((inner, name) => `{${JSON.stringify(name)}:${inner}}`, json);
  const close = found.end - 1;
  const comma = found.isEmpty ? "" : ",";
  return `${text.slice(0, close)}${comma}${JSON.stringify(key)}:${added}${text.slice(close)}`;
}

function removeMember(text: string, span: { keyStart: number; end: number }): string {
  let { end, keyStart } = span;
  while (" \n\r\t".includes(text.charAt(end))) end++;
  if (text.charAt(end) === ",") return text.slice(0, keyStart) + text.slice(end + 1);
  let before = keyStart - 1;
  while (" \n\r\t".includes(text.charAt(before))) before--;
  if (text.charAt(before) === ",") keyStart = before;
  return text.slice(0, keyStart) + text.slice(span.end);
}

function leading(text: string): number {
  let at = 0;
  while (" \n\r\t".includes(text.charAt(at)) && at < text.length) at++;
  return at;
}
