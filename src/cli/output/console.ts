/** Where a verb writes: results to standard output, everything else to standard error. */
import { styleText } from "node:util";

const DEFAULT_WIDTH = 80;

export function print(line = ""): void {
  process.stdout.write(`${line}\n`);
}

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/** A remark that is no result. */
export function say(line: string): void {
  process.stderr.write(`isthmus: ${line}\n`);
}

/** How wide a table may be: as wide as the terminal, 80 without one. */
export function outputWidth(): number {
  return process.stdout.isTTY ? Math.max(process.stdout.columns, 40) : DEFAULT_WIDTH;
}

/** In colour on a terminal that wants it; NO_COLOR and its like are heeded. */
export function coloured(style: "green" | "yellow" | "red" | "dim" | "bold", text: string): string {
  return styleText(style, text, { stream: process.stdout });
}
