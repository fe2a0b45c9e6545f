/**
 * One text for all spellings of the same JSON: keys sorted and strings written as in RFC 8785, numbers in their literal
 * text, because 1.0 and 1 are not the same argument to every server.
 */
import { createHash } from "node:crypto";
import { CountingScanner } from "./counting-scanner.ts";
import { MAX_ITEMS, MAX_MEMBERS } from "./members.ts";
import { JsonFault, MAX_JSON_DEPTH } from "./scanner.ts";
import { decodeString, stringOf } from "./text.ts";

/**
 * Takes text of one character per byte, gives an ordinary string. Throws JsonFault on what is not JSON, and where its objects have
 * more than `maxKeys` together, or its lists more than `maxItems`: to write a million takes seconds.
 */
export function canonicalJson(
  text: string,
  maxKeys = Number.POSITIVE_INFINITY,
  maxItems = Number.POSITIVE_INFINITY,
): string {
  const scanner = new CountingScanner(text, maxKeys, maxItems);
  scanner.space();
  const canonical = write(scanner, 0);
  scanner.end();
  return canonical;
}

/** SHA-256 of the canonical form, as base64url. Throws JsonFault on what is not JSON, and on what has too many keys or items. */
export function digestJson(text: string): string {
  return createHash("sha256")
    .update(canonicalJson(text, MAX_MEMBERS, MAX_ITEMS), "utf8")
    .digest("base64url");
}

/** The same for every spelling; where that would take too long, or the text is no JSON, of the text as it is. */
export function digestJsonOrText(text: string): string {
  try {
    return digestJson(text);
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    return createHash("sha256").update(text, "latin1").digest("base64url");
  }
}

/**
 * Texts are only ever appended to one another: the engine copies them once, when the whole is read. Joined in each container, what is
 * deep inside would be copied again for each that is around it.
 */
function write(scanner: CountingScanner, depth: number): string {
  const open = scanner.text.charAt(scanner.at);
  if (open === "{") return writeObject(scanner, depth);
  if (open === "[") return writeArray(scanner, depth);
  const start = scanner.at;
  scanner.value(depth);
  const literal = scanner.text.slice(start, scanner.at);
  return open === '"' ? respell(literal) : literal;
}

/** Whatever has another spelling is spelled with one of these two; what else is escaped has to be, and looks the same. */
function respell(literal: string): string {
  const isSettled = !literal.includes("\\u") && !literal.includes("\\/");
  return isSettled ? stringOf(literal) : JSON.stringify(decodeString(literal));
}

function writeObject(scanner: CountingScanner, depth: number): string {
  const members: { key: string; value: string }[] = [];
  eachItem(scanner, depth, "}", () => {
    scanner.countKey();
    const start = scanner.at;
    if (scanner.text.charAt(start) !== '"') scanner.fail("syntax", "expected a key");
    scanner.string();
    const key = decodeString(scanner.text.slice(start, scanner.at)) as string;
    scanner.space();
    if (scanner.text.charAt(scanner.at) !== ":") scanner.fail("syntax", "expected : after a key");
    scanner.at++;
    scanner.space();
    members.push({ key, value: write(scanner, depth + 1) });
  });
  // By UTF-16 code units, as RFC 8785 wants it. Repeated keys keep their order: their readers may not agree on the winner.
  members.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  let text = "{";
  for (const { key, value } of members) text += `${text === "{" ? "" : ","}${JSON.stringify(key)}:${value}`;
  return `${text}}`;
}

function writeArray(scanner: CountingScanner, depth: number): string {
  let text = "[";
  eachItem(scanner, depth, "]", () => {
    scanner.countItem();
    if (text !== "[") text += ",";
    text += write(scanner, depth + 1);
  });
  return `${text}]`;
}

/** Stands on the opening bracket; ends behind the closing one. */
function eachItem(scanner: CountingScanner, depth: number, close: string, take: () => void): void {
  if (depth >= MAX_JSON_DEPTH) scanner.fail("depth", `nested deeper than ${MAX_JSON_DEPTH}`);
  scanner.at++;
  scanner.space();
  let isFirst = true;
  while (scanner.text.charAt(scanner.at) !== close) {
    if (!isFirst) {
      if (scanner.text.charAt(scanner.at) !== ",") scanner.fail("syntax", `expected , or ${close}`);
      scanner.at++;
      scanner.space();
    }
    take();
    scanner.space();
    isFirst = false;
  }
  scanner.at++;
}
