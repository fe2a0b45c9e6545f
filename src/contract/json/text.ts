import { isUtf8 } from "node:buffer";
import { JsonFault } from "./scanner.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: the whole ASCII range, control characters included
const ASCII = /^[\x00-\x7f]*$/;

/** Bytes as text of one character per byte. Refuses bytes that are not UTF-8. */
export function textOfBytes(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new JsonFault("encoding", 0, "the text is not valid UTF-8");
  return bytes.toString("latin1");
}

/** Refuses text of one character per byte whose bytes are not UTF-8. */
export function checkUtf8(text: string): void {
  if (ASCII.test(text) || isUtf8(Buffer.from(text, "latin1"))) return;
  throw new JsonFault("encoding", 0, "the text is not valid UTF-8");
}

/** The same text as a string of its own: a piece of a message that is kept would keep the whole message. */
export function copyText(text: string): string {
  return Buffer.from(text, "latin1").toString("latin1");
}

/** An ordinary string as text of one character per byte. */
export function textOf(value: string): string {
  return ASCII.test(value) ? value : Buffer.from(value, "utf8").toString("latin1");
}

/** Text of one character per byte as an ordinary string. */
export function stringOf(text: string): string {
  return ASCII.test(text) ? text : Buffer.from(text, "latin1").toString("utf8");
}

/** A value as JSON text of one character per byte. */
export function jsonText(value: unknown): string {
  return textOf(JSON.stringify(value));
}

/** What a JSON string literal (with its quotes) says; undefined when the text is another kind of value. */
export function decodeString(literal: string | undefined): string | undefined {
  if (literal === undefined || literal.charCodeAt(0) !== 34) return undefined;
  if (literal.includes("\\")) return JSON.parse(stringOf(literal)) as string;
  return stringOf(literal.slice(1, -1));
}
