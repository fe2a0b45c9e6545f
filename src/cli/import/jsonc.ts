/** JSON as editors write it: comments and trailing commas are taken, and every value knows where it stands. */
import { parseJson } from "../json.ts";

export type JsoncNode = {
  readonly value: unknown;
  /** In characters of the text: from its first to behind its last. */
  readonly start: number;
  readonly end: number;
  /** Of an object; the last of equal names counts. */
  readonly members?: ReadonlyMap<string, JsoncNode>;
};

const MAX_DEPTH = 100;

/** Throws SyntaxError with the line. */
export function parseJsonc(text: string): JsoncNode {
  const reader = new Reader(text);
  const node = reader.value(0);
  reader.expectEnd();
  return node;
}

export function nodeAt(node: JsoncNode, path: readonly string[]): JsoncNode | undefined {
  return path.reduce<JsoncNode | undefined>((at, key) => at?.members?.get(key), node);
}

class Reader {
  readonly #text: string;
  #at: number;

  constructor(text: string) {
    this.#text = text;
    this.#at = text.startsWith("\uFEFF") ? 1 : 0;
  }

  value(depth: number): JsoncNode {
    if (depth > MAX_DEPTH) this.#fail("nested too deeply");
    this.#skip();
    const start = this.#at;
    const first = this.#text[start];
    if (first === "{") return this.#object(start, depth);
    if (first === "[") return this.#array(start, depth);
    return { value: this.#literal(), start, end: this.#at };
  }

  expectEnd(): void {
    this.#skip();
    if (this.#at < this.#text.length) this.#fail("expected the end");
  }

  #object(start: number, depth: number): JsoncNode {
    const members = new Map<string, JsoncNode>();
    this.#at++;
    while (!this.#closes("}")) {
      const key = this.#literal();
      if (typeof key !== "string") this.#fail("expected a name in quotes");
      this.#skip();
      this.#take(":");
      members.set(String(key), this.value(depth + 1));
      this.#separate("}");
    }
    // Not by assignment: a member may be called "__proto__".
    const value = Object.fromEntries([...members].map(([key, member]) => [key, member.value]));
    return { value, start, end: this.#at, members };
  }

  #array(start: number, depth: number): JsoncNode {
    const value: unknown[] = [];
    this.#at++;
    while (!this.#closes("]")) {
      value.push(this.value(depth + 1).value);
      this.#separate("]");
    }
    return { value, start, end: this.#at };
  }

  #closes(bracket: string): boolean {
    this.#skip();
    if (this.#text[this.#at] !== bracket) return false;
    this.#at++;
    return true;
  }

  #separate(bracket: string): void {
    this.#skip();
    if (this.#text[this.#at] !== bracket) this.#take(",");
  }

  #take(sign: string): void {
    if (this.#text[this.#at] !== sign) this.#fail(`expected "${sign}"`);
    this.#at++;
  }

  #literal(): unknown {
    LITERAL.lastIndex = this.#at;
    const found = LITERAL.exec(this.#text)?.[0] ?? this.#fail("expected a value");
    try {
      const value = parseJson(found);
      this.#at += found.length;
      return value;
    } catch {
      return this.#fail("not a JSON value");
    }
  }

  #skip(): void {
    BLANK.lastIndex = this.#at;
    this.#at += BLANK.exec(this.#text)?.[0].length ?? 0;
  }

  #fail(what: string): never {
    const line = this.#text.slice(0, this.#at).split("\n").length;
    const rest = this.#text.slice(this.#at);
    const isCut = rest === "" || /^"(?:[^"\\\n]|\\.)*\\?$/.test(rest);
    throw new SyntaxError(`line ${line}: ${isCut ? "the file ends too early" : what}`);
  }
}

const BLANK = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
const LITERAL = /"(?:[^"\\\n]|\\.)*"|[\w.+-]+/y;
