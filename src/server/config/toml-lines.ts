/**
 * On which line of a TOML text each key stands. The parser tells lines only of what is no TOML at all, so this walks a
 * text that the parser has taken once more, and looks at nothing but keys and brackets.
 */

export type KeyPath = readonly PropertyKey[];

/** Keys further down are found by what they stand in. */
const MAX_DEPTH = 8;

/** Finds the line of a path, or of the nearest thing around it; undefined when nothing of the path is written. */
export function findTomlLines(text: string): (path: KeyPath) => number | undefined {
  const { lines } = new Walk(text);
  return (path) => {
    for (let length = Math.min(path.length, MAX_DEPTH); length > 0; length--) {
      const line = lines.get(keyOf(path.slice(0, length)));
      if (line !== undefined) return line;
    }
    return undefined;
  };
}

export type TomlHeader = { readonly path: KeyPath; readonly line: number };

/** Every `[table]` and `[[table]]`, in the order of the text. */
export function findTomlHeaders(text: string): readonly TomlHeader[] {
  return new Walk(text).headers;
}

function keyOf(path: KeyPath): string {
  return JSON.stringify(path);
}

class Walk {
  readonly lines = new Map<string, number>();
  readonly headers: TomlHeader[] = [];
  readonly #text: string;
  readonly #tableCounts = new Map<string, number>();
  #at = 0;
  #line = 1;
  #table: PropertyKey[] = [];

  constructor(text: string) {
    this.#text = text;
    for (;;) {
      this.#skipBlank();
      if (this.#at >= text.length) return;
      const before = this.#at;
      if (this.#peek() === "[") this.#header();
      else this.#assignment(this.#table);
      // A text that the parser would not take cannot hold this up.
      if (this.#at === before) this.#at++;
    }
  }

  #peek(): string {
    return this.#text.charAt(this.#at);
  }

  /** Goes on to `to`, counting the lines on the way. */
  #advance(to: number): void {
    for (
      let next = this.#text.indexOf("\n", this.#at);
      next >= 0 && next < to;
      next = this.#text.indexOf("\n", next + 1)
    )
      this.#line++;
    this.#at = Math.min(to, this.#text.length);
  }

  /** White space, line ends, commas and comments. */
  #skipBlank(): void {
    for (;;) {
      const blank = match(/[\s,\uFEFF]+/y, this.#text, this.#at);
      this.#advance(this.#at + blank.length);
      if (this.#peek() !== "#") return;
      this.#advance(this.#at + match(/[^\n]*/y, this.#text, this.#at).length);
    }
  }

  #record(path: KeyPath): void {
    for (let length = 1; length <= Math.min(path.length, MAX_DEPTH); length++) {
      const key = keyOf(path.slice(0, length));
      if (!this.lines.has(key)) this.lines.set(key, this.#line);
    }
  }

  #header(): void {
    const isList = this.#text.startsWith("[[", this.#at);
    this.#advance(this.#at + (isList ? 2 : 1));
    const path = this.#inLists(this.#keys(), isList);
    this.#record(path);
    this.headers.push({ path, line: this.#line });
    this.#table = path;
    this.#advance(this.#at + match(/[ \t]*\]{0,2}/y, this.#text, this.#at).length);
  }

  /** `[servers.env]` stands in the last of `[[servers]]` so far; `[[servers]]` begins a new one. */
  #inLists(keys: readonly string[], isList: boolean): PropertyKey[] {
    const path: PropertyKey[] = [];
    for (const [index, key] of keys.entries()) {
      path.push(key);
      if (path.length > MAX_DEPTH) break;
      const name = keyOf(path);
      const count = this.#tableCounts.get(name);
      const isNew = isList && index === keys.length - 1;
      if (isNew) this.#tableCounts.set(name, (count ?? 0) + 1);
      if (isNew || count !== undefined) path.push((this.#tableCounts.get(name) ?? 1) - 1);
    }
    return path;
  }

  #assignment(inside: KeyPath): void {
    const path = [...inside, ...this.#keys()];
    this.#record(path);
    this.#advance(this.#at + match(/[ \t]*=?[ \t]*/y, this.#text, this.#at).length);
    this.#value(path);
  }

  /** A bare, quoted or dotted key, part by part. */
  #keys(): string[] {
    const keys: string[] = [];
    do {
      this.#advance(this.#at + match(/[ \t.]*/y, this.#text, this.#at).length);
      const quote = this.#peek();
      const length = quote === '"' || quote === "'" ? this.#stringLength() : undefined;
      const raw =
        length === undefined ? match(/[^\s.=\][{},#]+/y, this.#text, this.#at) : this.#text.substr(this.#at, length);
      keys.push(unquote(raw));
      this.#advance(this.#at + raw.length);
    } while (match(/[ \t]*\./y, this.#text, this.#at) !== "");
    return keys;
  }

  #value(path: KeyPath): void {
    const first = this.#peek();
    if (first === '"' || first === "'") this.#advance(this.#at + this.#stringLength());
    else if (first === "[") this.#list(path);
    else if (first === "{") this.#inlineTable(path);
    else this.#advance(this.#at + match(/[^\n,\]}#]*/y, this.#text, this.#at).length);
  }

  #list(path: KeyPath): void {
    this.#advance(this.#at + 1);
    for (let index = 0; this.#isInside("]"); index++) {
      const element = [...path.slice(0, MAX_DEPTH), index];
      this.#record(element);
      const before = this.#at;
      this.#value(element);
      if (this.#at === before) this.#advance(before + 1);
    }
    this.#advance(this.#at + 1);
  }

  #inlineTable(path: KeyPath): void {
    this.#advance(this.#at + 1);
    while (this.#isInside("}")) {
      const before = this.#at;
      this.#assignment(path.slice(0, MAX_DEPTH));
      if (this.#at === before) this.#advance(before + 1);
    }
    this.#advance(this.#at + 1);
  }

  #isInside(close: string): boolean {
    this.#skipBlank();
    return this.#at < this.#text.length && this.#peek() !== close;
  }

  /** Of the string that begins here, with its quotes. */
  #stringLength(): number {
    const quote = this.#peek();
    const isLong = this.#text.startsWith(quote.repeat(3), this.#at);
    const pattern = isLong ? (quote === '"' ? LONG_BASIC : LONG_LITERAL) : quote === '"' ? BASIC : LITERAL;
    return match(pattern, this.#text, this.#at).length || 1;
  }
}

const BASIC = /"(?:[^"\\\n]|\\.)*"?/y;
const LITERAL = /'[^'\n]*'?/y;
const LONG_BASIC = /"""(?:[^"\\]|\\[\s\S]|"(?!""))*(?:"{3,5})?/y;
const LONG_LITERAL = /'''(?:[^']|'(?!''))*(?:'{3,5})?/y;

function match(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? "";
}

function unquote(raw: string): string {
  if (raw.startsWith("'")) return raw.slice(1, -1);
  if (!raw.startsWith('"')) return raw;
  try {
    return String(JSON.parse(raw));
  } catch {
    return raw.slice(1, -1);
  }
}
