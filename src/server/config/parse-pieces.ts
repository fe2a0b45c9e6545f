/** What can be read of a config file that is broken somewhere: enough to find the gateway that was started before it broke. */
import { parseToml, TomlFault } from "./parse-toml.ts";

type Table = Record<string, unknown>;

/** As parseToml where the file is whole. Else each table by itself, and of a table that is broken each line by itself. */
export function parsePieces(bytes: Buffer): { table: Table; text: string } {
  const whole = tryParse(bytes);
  if (whole) return whole;
  const text = bytes.toString("utf8");
  const found = new Map<string, unknown>();
  // A bracket at the begin of a line opens a table, or stands in a list that goes over several lines, and is then no TOML.
  for (const piece of text.split(/^(?=[ \t]*\[)/m)) {
    for (const [name, value] of entriesIn(piece)) found.set(name, joined(found.get(name), value));
  }
  return { table: Object.fromEntries(found), text };
}

function entriesIn(piece: string): [string, unknown][] {
  const whole = tryParse(Buffer.from(piece));
  if (whole) return Object.entries(whole.table);
  const [head = "", ...lines] = piece.split("\n");
  if (!tryParse(Buffer.from(head))) return [];
  const kept = lines.filter((line) => tryParse(Buffer.from(line)));
  return Object.entries(tryParse(Buffer.from([head, ...kept].join("\n")))?.table ?? {});
}

function tryParse(bytes: Buffer): { table: Table; text: string } | undefined {
  try {
    return parseToml(bytes);
  } catch (error) {
    if (error instanceof TomlFault) return undefined;
    throw error;
  }
}

/** Tables of the same name are one; `[servers.env]` by itself is nothing beside the `[[servers]]` to which it belongs. */
function joined(before: unknown, value: unknown): unknown {
  if (before === undefined) return value;
  if (Array.isArray(before)) return Array.isArray(value) ? [...before, ...value] : before;
  return isTable(before) && isTable(value) ? { ...before, ...value } : before;
}

function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
