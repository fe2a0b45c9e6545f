/**
 * A body in YAML, as the value that JSON could have held: the core schema and nothing else. What is only there to make a reader
 * work (nesting, aliases of aliases, endless marks) is refused before it does.
 */
import type { CST, Document, Node, Pair, Parser, Scalar } from "yaml";
import { Refusal } from "./problem.ts";

const MAX_BYTES = 256 * 1024;
/** All calls of the process wait while a body is read, and each token takes some microseconds. */
const MAX_TOKENS = 5_000;
const MAX_DEPTH = 64;
/** Of the value, with what aliases repeat. */
const MAX_VALUES = 20_000;
const MAX_ALIASES = 32;
/** Of what is wrong, in characters. */
const MAX_SAID = 200;

type Yaml = typeof import("yaml");

/** Throws Refusal with the line and the column of what is wrong. */
export async function readYaml(text: string): Promise<unknown> {
  if (text.length > MAX_BYTES) throw new Refusal(413, `A body in YAML may have at most ${MAX_BYTES} bytes.`);
  const yaml = await import("yaml");
  checkTokens(yaml, text);
  const document = compose(yaml, text);
  return new Values(yaml, document, text).read();
}

/** Stops at the first thing that is wrong: the package would make an error, with its stack, of each of very many. */
function compose({ Composer, Parser }: Yaml, text: string): Document.Parsed {
  const composer = new Composer({
    ...{ schema: "core", merge: false, customTags: [], resolveKnownTags: false, version: "1.2" },
    // We look for repeated keys ourselves: the package compares every key with every other.
    uniqueKeys: false,
  });
  let first: Refusal | undefined;
  // Where it comes to a fault it calls this. It catches what some of its own functions throw, and then calls again.
  Reflect.set(composer, "onError", (source: FaultSource, _code: string, message: string) => {
    first ??= unusable(text, offsetOf(source), message);
    throw first;
  });
  const [document] = composer.compose(tokensOfOne(new Parser(), text), true, text.length);
  const [fault] = document ? [...document.errors, ...document.warnings] : [];
  if (!document || fault) throw unusable(text, fault?.pos[0] ?? 0, fault?.message ?? "there is no document");
  return document;
}

/** Where the package says that something is wrong. */
type FaultSource = number | readonly [number, ...number[]] | { readonly offset: number };

function offsetOf(source: FaultSource): number {
  if (typeof source === "number") return source;
  return "offset" in source ? source.offset : source[0];
}

/** Those of one document, and none that is wrong by itself. */
function* tokensOfOne(parser: Parser, text: string): Generator<CST.Token> {
  let hasDocument = false;
  for (const token of parser.parse(text)) {
    if (token.type === "error") throw unusable(text, token.offset, token.message);
    if (token.type === "document") {
      if (hasDocument) throw unusable(text, token.offset, "there are multiple documents");
      hasDocument = true;
    }
    yield token;
  }
}

/** Nesting on one line, what closes nothing, and the number of tokens: what the parser does with them takes long, or all of the stack. */
function checkTokens({ Lexer }: Yaml, text: string): void {
  let [count, depth, marks, offset, isScalar] = [0, 0, 0, 0, false];
  for (const token of new Lexer().lex(text)) {
    const isText = isScalar;
    isScalar = token === SCALAR;
    if (!isText && CONTROLS.has(token)) continue;
    if (!isText) {
      if (token === "[" || token === "{") depth++;
      else if (token === "]" || token === "}") depth--;
      else if (token === "-" || token === "?") marks++;
      else if (token.includes("\n")) marks = 0;
    }
    if (depth < 0) throw unusable(text, offset, `nothing is open that ${token} could close`);
    if (depth > MAX_DEPTH || marks > MAX_DEPTH) throw unusable(text, offset, TOO_DEEP);
    if (++count > MAX_TOKENS) throw unusable(text, offset, `there are more than ${MAX_TOKENS} tokens`);
    offset += token.length;
  }
}

const TOO_DEEP = `it is nested deeper than ${MAX_DEPTH}`;
/** What the lexer adds to the text: the next token is a scalar; the beginning of a document, of the text, the end of a flow. */
const SCALAR = "\x1f";
const CONTROLS: ReadonlySet<string> = new Set([SCALAR, "\x02", "\x18", "\u{feff}"]);

class Values {
  readonly #yaml: Yaml;
  readonly #document: Document.Parsed;
  readonly #text: string;
  #values = 0;
  #aliases = 0;

  constructor(yaml: Yaml, document: Document.Parsed, text: string) {
    this.#yaml = yaml;
    this.#document = document;
    this.#text = text;
  }

  read(): unknown {
    return this.#valueOf(this.#document.contents, 0);
  }

  #valueOf(node: Node | null, depth: number): unknown {
    const { isAlias, isMap, isSeq, isScalar } = this.#yaml;
    if (++this.#values > MAX_VALUES) throw this.#fault(node, `there are more than ${MAX_VALUES} values`);
    if (depth > MAX_DEPTH) throw this.#fault(node, TOO_DEEP);
    if (node === null) return null;
    if (isAlias(node)) {
      if (++this.#aliases > MAX_ALIASES) throw this.#fault(node, `there are more than ${MAX_ALIASES} aliases`);
      const found = node.resolve(this.#document);
      if (!found) throw this.#fault(node, "the alias stands for nothing");
      return this.#valueOf(found, depth + 1);
    }
    if (isSeq(node)) return node.items.map((item) => this.#valueOf(item as Node | null, depth + 1));
    if (isMap(node)) return this.#objectOf(node.items as Pair<Node, Node | null>[], depth);
    if (isScalar(node)) return this.#scalarOf(node);
    throw this.#fault(node, "it cannot be written in JSON");
  }

  #objectOf(pairs: readonly Pair<Node, Node | null>[], depth: number): unknown {
    const members = new Map<string, unknown>();
    for (const { key, value } of pairs) {
      if (!this.#yaml.isScalar(key) || typeof key.value !== "string") throw this.#fault(key, "a key must be a text");
      if (members.has(key.value)) throw this.#fault(key, `the key ${JSON.stringify(key.value)} is repeated`);
      members.set(key.value, this.#valueOf(value, depth + 1));
    }
    return Object.fromEntries(members);
  }

  #scalarOf(scalar: Scalar): unknown {
    const { value } = scalar;
    const isPlain = value === null || typeof value === "string" || typeof value === "boolean";
    if (isPlain || (typeof value === "number" && Number.isFinite(value))) return value;
    throw this.#fault(scalar, "it cannot be written in JSON");
  }

  #fault(node: Node | null, said: string): Refusal {
    return unusable(this.#text, node?.range?.[0] ?? 0, said);
  }
}

function unusable(text: string, offset: number, said: string): Refusal {
  const before = text.slice(0, offset);
  const line = before.split("\n").length;
  const column = offset - before.lastIndexOf("\n");
  const detail = `The body is not usable YAML: line ${line}, column ${column}: ${said.slice(0, MAX_SAID).replace(/\.$/, "")}.`;
  return new Refusal(400, detail, { place: { line, column } });
}
