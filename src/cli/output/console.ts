/**
 * Where a verb writes: results to standard output, everything else to standard error. Nothing else in this family writes there, so
 * that no text of a server, a caller or a file can steer the terminal, whichever verb shows it.
 */
import { styleText } from "node:util";
import { escapeInvisible } from "../../contract/index.ts";
import { plainBlanks, plainText } from "./plain.ts";

const DEFAULT_WIDTH = 80;

/** The first characters of a line in colour. */
export type Sign = { readonly style: "green" | "yellow" | "red"; readonly length: number };

/** One line for a person, whatever is in it. */
export function print(line = "", sign?: Sign): void {
  const plain = plainBlanks(line);
  const length = sign?.length ?? 0;
  const start = sign ? coloured(sign.style, plain.slice(0, length)) : "";
  process.stdout.write(`${start}${plain.slice(length)}\n`);
}

/** A text of lines with their ends: as it is in a pipe or a file. */
export function printText(text: string): void {
  process.stdout.write(process.stdout.isTTY ? plainText(text) : text);
}

/** For a pipe or a file. */
export function printBytes(bytes: Uint8Array): void {
  process.stdout.write(bytes);
}

export function printJson(value: unknown): void {
  process.stdout.write(jsonLine(value));
}

/** The same value, whatever is in its texts. */
export function jsonLine(value: unknown): string {
  return `${escapeInvisible(JSON.stringify(value))}\n`;
}

/** A remark that is no result. */
export function say(line: string): void {
  process.stderr.write(`isthmus: ${plainBlanks(line)}\n`);
}

/** Lines of a log, with their ends. */
export function sayText(text: string): void {
  process.stderr.write(process.stderr.isTTY ? plainText(text) : text);
}

/** When all that was printed has left: a result may still be on its way through a pipe. */
export function whenPrinted(then: () => void): void {
  process.stdout.write("", then);
}

/** How wide text for people is: as wide as the terminal, 80 without one. */
export function outputWidth(): number {
  return process.stdout.isTTY ? Math.max(process.stdout.columns, 40) : DEFAULT_WIDTH;
}

/** How wide a table may be: as wide as the terminal. What goes into a pipe or a file is cut nowhere. */
export function tableWidth(): number {
  return process.stdout.isTTY ? outputWidth() : Number.POSITIVE_INFINITY;
}

/** In colour on a terminal that wants it; NO_COLOR and its like are heeded. */
function coloured(style: Sign["style"], text: string): string {
  return styleText(style, text, { stream: process.stdout });
}
