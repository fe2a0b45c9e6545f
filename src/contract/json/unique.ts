import { JsonFault, MAX_JSON_DEPTH, Scanner } from "./scanner.ts";

/**
 * Refuses a repeated key at any depth, however it is spelled. Run before anything reads a value that is also sent on:
 * parsers differ in which of two equal keys they keep.
 */
export function refuseRepeatedKeys(text: string): void {
  const scanner = new Scanner(text);
  scanner.space();
  walk(scanner, 0);
}

function walk(scanner: Scanner, depth: number): void {
  const open = scanner.text.charAt(scanner.at);
  if (open !== "{" && open !== "[") {
    scanner.value(depth);
    return;
  }
  if (depth >= MAX_JSON_DEPTH) scanner.fail("depth", `nested deeper than ${MAX_JSON_DEPTH}`);
  const close = open === "{" ? "}" : "]";
  const seen = new Set<string>();
  scanner.at++;
  scanner.space();
  let isFirst = true;
  while (scanner.text.charAt(scanner.at) !== close) {
    if (!isFirst) expectChar(scanner, ",");
    if (open === "{") walkKey(scanner, seen);
    walk(scanner, depth + 1);
    scanner.space();
    isFirst = false;
  }
  scanner.at++;
}

function walkKey(scanner: Scanner, seen: Set<string>): void {
  const start = scanner.at;
  if (scanner.text.charAt(start) !== '"') scanner.fail("syntax", "expected a key");
  scanner.string();
  const literal = scanner.text.slice(start, scanner.at);
  const key = literal.includes("\\") ? (JSON.parse(literal) as string) : literal.slice(1, -1);
  if (seen.has(key)) throw new JsonFault("repeated-key", start, `repeated key at byte ${start}`);
  seen.add(key);
  scanner.space();
  expectChar(scanner, ":");
}

function expectChar(scanner: Scanner, char: string): void {
  if (scanner.text.charAt(scanner.at) !== char) scanner.fail("syntax", `expected ${char}`);
  scanner.at++;
  scanner.space();
}
