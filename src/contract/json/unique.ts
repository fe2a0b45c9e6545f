import { CountingScanner } from "./counting-scanner.ts";
import { JsonFault, MAX_JSON_DEPTH, type Scanner } from "./scanner.ts";

/**
 * Refuses a repeated key at any depth, however it is spelled. Run before anything reads a value that is also sent on:
 * parsers differ in which of two equal keys they keep. Refuses more keys and items of lists than these, too.
 */
export function refuseRepeatedKeys(
  text: string,
  maxKeys = Number.POSITIVE_INFINITY,
  maxItems = Number.POSITIVE_INFINITY,
): void {
  const scanner = new CountingScanner(text, maxKeys, maxItems);
  scanner.space();
  walk(scanner, 0);
}

function walk(scanner: CountingScanner, depth: number): void {
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
    else scanner.countItem();
    walk(scanner, depth + 1);
    scanner.space();
    isFirst = false;
  }
  scanner.at++;
}

function walkKey(scanner: CountingScanner, seen: Set<string>): void {
  scanner.countKey();
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
