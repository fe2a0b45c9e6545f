/** A config file as a table, or why it is none: one message with the place and what usually helps. */
import { isUtf8 } from "node:buffer";
import { parse, TomlError } from "smol-toml";

const BYTE_ORDER_MARK = "\uFEFF";

/** `place` is what stands after the file's name: nothing, `:line`, or `:line:column`. */
export class TomlFault extends Error {
  override readonly name = "TomlFault";
  readonly place: string;

  constructor(place: string, message: string) {
    super(message);
    this.place = place;
  }
}

/** Throws TomlFault. */
export function parseToml(bytes: Buffer): { table: Record<string, unknown>; text: string } {
  if (!isUtf8(bytes)) {
    throw new TomlFault(`:${lineWithOtherBytes(bytes)}`, "expected UTF-8, found other bytes; save the file as UTF-8");
  }
  const decoded = bytes.toString("utf8");
  const text = decoded.startsWith(BYTE_ORDER_MARK) ? decoded.slice(1) : decoded;
  try {
    return { table: parse(text), text };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [first = ""] = error.message.split("\n");
    const reason = first.replace("Invalid TOML document: ", "").replace(/\. aborting\.$/, "");
    const line = text.split(/\r?\n/)[error.line - 1] ?? "";
    // A string that runs into the end of its line was not meant to: it is not about the line break.
    const isCut = reason.includes("control characters") && error.column > line.length;
    const told = isCut ? "unfinished string" : reason;
    throw new TomlFault(`:${error.line}:${error.column}`, `${told}; ${hintFor(told, line, error.column)}`);
  }
}

function lineWithOtherBytes(bytes: Buffer): number {
  let line = 1;
  for (let start = 0; ; line++) {
    const end = bytes.indexOf(0x0a, start);
    if (end < 0 || !isUtf8(bytes.subarray(start, end))) return line;
    start = end + 1;
  }
}

/** By what the parser says; the first that fits. What stands in the line may be a secret and is not repeated. */
const HINTS: readonly { reason: RegExp; line?: RegExp; hint: string }[] = [
  { reason: /./, line: /^\s*\{/, hint: "this looks like JSON, but the file is TOML" },
  { reason: /^invalid value/, line: /[“”‘’]/, hint: 'write plain quotes, "text"' },
  { reason: /^invalid value/, line: /=\s*(?:true|false|yes|no|on|off)\b/i, hint: "write true or false" },
  { reason: /^invalid value/, line: /=\s*(?:null|none|nil|undefined)\b/i, hint: "leave the key out instead" },
  { reason: /^invalid value/, line: /=\s*(?:#.*)?$/, hint: "a value is missing after the equals sign" },
  { reason: /^invalid value|numeric|number|digit|leading zero/, hint: 'text needs quotes, as in "text"' },
  { reason: /unfinished/, hint: "close the string with the quote that it begins with" },
  { reason: /table array|end of table/, hint: "a list of tables is written [[servers]], a table [gateway]" },
  { reason: /key/, line: /^\s*\[/, hint: "a list of tables is written [[servers]], a table [gateway]" },
  { reason: /key/, line: /^[^=]*:/, hint: "write key = value, with an equals sign" },
  { reason: /redefine/, hint: "each key and each [table] stands once; every further server begins with [[servers]]" },
  { reason: /comma/, hint: "a comma or a closing bracket is missing" },
  { reason: /escape/, hint: "write \\\\ for a backslash, or put the text in single quotes" },
  { reason: /end-of-line/, hint: "put each key on a line of its own" },
  { reason: /nested/, hint: "nothing in this file is nested deeper than five levels" },
  { reason: /control/, hint: 'write control characters as \\n or \\u0000, or long text in """' },
];

function hintFor(reason: string, line: string, column: number): string {
  // Only what stands before the place tells about keys; a long line is not searched to its end.
  const near = line.slice(0, Math.max(column, 0) + 80);
  const found = HINTS.find((row) => row.reason.test(reason) && (row.line?.test(near) ?? true));
  return found?.hint ?? "write key = value, one to a line";
}
