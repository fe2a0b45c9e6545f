/**
 * Walks JSON text strictly, once, without building values.
 *
 * Text here is always one character per byte (latin1 of the UTF-8 bytes): such strings are scanned and cut far
 * faster than buffers, and go to a socket byte for byte. Every JSON token boundary is ASCII, so nothing is lost.
 */

import { PeerFault } from "../peer-fault.ts";

/** Why a text was refused. `at` is a byte offset. */
export class JsonFault extends PeerFault {
  override readonly name = "JsonFault";
  readonly reason: JsonFaultReason;
  readonly at: number;

  constructor(reason: JsonFaultReason, at: number, message: string) {
    super(message);
    this.reason = reason;
    this.at = at;
  }
}

export type JsonFaultReason = "syntax" | "depth" | "repeated-key" | "escaped-key" | "members" | "encoding";

export const MAX_JSON_DEPTH = 128;

const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;
const COLON = 58;
const OPEN_ARRAY = 91;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
const CONTROL = /[\x00-\x1f]/;

function isHex(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 70) || (code >= 97 && code <= 102);
}

/** Called for each member of an object: the key's text between its quotes, and where the value stands. */
export type OnMember = (key: string, start: number, end: number, keyStart: number) => void;

/** Asked before the value of `key` is walked: if it is an object, its own members go to the answer, which may ask the same again. */
export type OnInner = (
  key: string,
  start: number,
) => OnMember | { readonly member: OnMember; readonly inner: OnInner } | undefined;

export class Scanner {
  readonly text: string;
  /** Only ever moves forward: see `#backslash`. */
  at = 0;
  // The next backslash at or after the last place we asked: strings before it need no character loop.
  #backslash = -1;
  readonly #hasControl: boolean;
  readonly #known: string;
  /** The known value was met. */
  metKnown = false;

  /** `known`: a value that was walked before, in another text and no less deep; where it stands again it is not. "": none. */
  constructor(text: string, known = "") {
    this.text = text;
    this.#known = known;
    this.#hasControl = CONTROL.test(text);
  }

  fail(reason: JsonFaultReason, message: string): never {
    throw new JsonFault(reason, this.at, `${message} at byte ${this.at}`);
  }

  space(): void {
    let code = this.text.charCodeAt(this.at);
    while (code === 32 || code === 10 || code === 13 || code === 9) code = this.text.charCodeAt(++this.at);
  }

  /** Nothing but white space may follow. */
  end(): void {
    this.space();
    if (this.at !== this.text.length) this.fail("syntax", "unexpected text after the JSON value");
  }

  /** Compared as a whole, and only where it has a chance: faster than walking. */
  #isKnown(start: number): boolean {
    const { length } = this.#known;
    if (length === 0 || this.text.charCodeAt(start + 8) !== this.#known.charCodeAt(8)) return false;
    const isKnown = this.text.slice(start, start + length) === this.#known;
    if (isKnown) this.metKnown = true;
    return isKnown;
  }

  /** Skips one value of any kind. `depth` is how many containers surround it. */
  value(depth: number): void {
    const code = this.text.charCodeAt(this.at);
    if (code === QUOTE) this.string();
    else if (code === OPEN_OBJECT) this.#object(depth);
    else if (code === OPEN_ARRAY) this.#array(depth);
    else if (code === 45 || (code >= 48 && code <= 57)) this.#number();
    else if (this.text.startsWith("true", this.at) || this.text.startsWith("null", this.at)) this.at += 4;
    else if (this.text.startsWith("false", this.at)) this.at += 5;
    else this.fail("syntax", Number.isNaN(code) ? "the JSON text ends too early" : "unexpected character");
  }

  /** Stands on an opening quote; ends behind the closing one. */
  string(): void {
    const { text } = this;
    const start = this.at + 1;
    const close = text.indexOf('"', start);
    if (close < 0) this.fail("syntax", "unterminated string");
    if (this.#backslash < start && this.#backslash !== text.length) {
      const next = text.indexOf("\\", start);
      this.#backslash = next < 0 ? text.length : next;
    }
    if (this.#hasControl || this.#backslash < close) this.#slowString(start);
    else this.at = close + 1;
  }

  #slowString(start: number): void {
    const { text } = this;
    let at = start;
    for (;;) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) break;
      if (code === BACKSLASH) at += this.#escape(at);
      else if (code >= 32) at++;
      else {
        this.at = at;
        this.fail("syntax", Number.isNaN(code) ? "unterminated string" : "control character in a string");
      }
    }
    this.at = at + 1;
  }

  #escape(at: number): number {
    const { text } = this;
    const kind = text.charAt(at + 1);
    if (kind === "u" && isHex(text, at + 2) && isHex(text, at + 3) && isHex(text, at + 4) && isHex(text, at + 5))
      return 6;
    if (kind !== "" && kind !== "u" && '"\\/bfnrt'.includes(kind)) return 2;
    this.at = at;
    return this.fail("syntax", "bad escape in a string");
  }

  #digits(): void {
    const start = this.at;
    let code = this.text.charCodeAt(this.at);
    while (code >= 48 && code <= 57) code = this.text.charCodeAt(++this.at);
    if (this.at === start) this.fail("syntax", "bad number");
  }

  #number(): void {
    const { text } = this;
    if (text.charCodeAt(this.at) === 45) this.at++;
    if (text.charCodeAt(this.at) === 48) this.at++;
    else this.#digits();
    if (text.charCodeAt(this.at) === 46) {
      this.at++;
      this.#digits();
    }
    const exponent = text.charCodeAt(this.at);
    if (exponent === 101 || exponent === 69) {
      const sign = text.charCodeAt(++this.at);
      if (sign === 43 || sign === 45) this.at++;
      this.#digits();
    }
  }

  #array(depth: number): void {
    if (depth >= MAX_JSON_DEPTH) this.fail("depth", `nested deeper than ${MAX_JSON_DEPTH}`);
    this.at++;
    this.space();
    if (this.text.charCodeAt(this.at) === CLOSE_ARRAY) {
      this.at++;
      return;
    }
    for (;;) {
      this.value(depth + 1);
      this.space();
      const code = this.text.charCodeAt(this.at);
      if (code === CLOSE_ARRAY) break;
      if (code !== COMMA) this.fail("syntax", "expected , or ] in an array");
      this.at++;
      this.space();
    }
    this.at++;
  }

  #object(depth: number): void {
    this.members(depth);
  }

  /** Stands on `{`; tells each member; ends behind `}`. Checks nothing about the keys: `Members` does. */
  members(depth: number, onMember?: OnMember, onInner?: OnInner): void {
    if (depth >= MAX_JSON_DEPTH) this.fail("depth", `nested deeper than ${MAX_JSON_DEPTH}`);
    const { text } = this;
    this.at++;
    this.space();
    if (text.charCodeAt(this.at) === CLOSE_OBJECT) {
      this.at++;
      return;
    }
    for (;;) {
      if (text.charCodeAt(this.at) !== QUOTE) this.fail("syntax", "expected a key");
      const keyStart = this.at;
      this.string();
      const keyEnd = this.at;
      this.space();
      if (text.charCodeAt(this.at) !== COLON) this.fail("syntax", "expected : after a key");
      this.at++;
      this.space();
      const start = this.at;
      if (onMember) {
        const key = text.slice(keyStart + 1, keyEnd - 1);
        const inner = text.charCodeAt(start) === OPEN_OBJECT ? onInner?.(key, start) : undefined;
        if (typeof inner === "function") this.members(depth + 1, inner);
        else if (inner) this.members(depth + 1, inner.member, inner.inner);
        else if (this.#isKnown(start)) this.at = start + this.#known.length;
        else this.value(depth + 1);
        onMember(key, start, this.at, keyStart);
      } else this.value(depth + 1);
      this.space();
      const code = text.charCodeAt(this.at);
      if (code === CLOSE_OBJECT) break;
      if (code !== COMMA) this.fail("syntax", "expected , or } in an object");
      this.at++;
      this.space();
    }
    this.at++;
  }
}
