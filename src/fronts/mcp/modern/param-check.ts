/** Arguments that a tool wants in headers, too: both must say the same, because others act on the headers alone. */
import {
  decodeString,
  type Entry,
  type HttpRequest,
  type Payload,
  type Primitive,
  stringOf,
  textsAt,
} from "../../../contract/index.ts";
import { decodeHeader, type ParamHeader, paramHeaders } from "../../../wire/mcp/2026-07-28/index.ts";
import { headerMismatch, type ModernError } from "./modern-errors.ts";

const NONE: readonly ParamHeader[] = [];
const KNOWN = new WeakMap<Primitive, readonly ParamHeader[]>();

export function checkParams(entry: Entry, input: Payload, headers: HttpRequest["headers"]): ModernError | undefined {
  const params = annotated(entry.primitive);
  if (params.length === 0) return undefined;
  const found = textsAt(
    input.text,
    params.map(({ path }) => ["arguments", ...path]),
  );
  for (const [index, { name }] of params.entries()) {
    const header = headers[`mcp-param-${name.toLowerCase()}`];
    const argument = found[index];
    const problem = disagreement(header, argument === "null" ? undefined : argument);
    if (problem !== undefined) return headerMismatch(`Mcp-Param-${name}`, problem);
  }
  return undefined;
}

const PREFIX = "mcp-param-";

/** The names of these headers, for each set of headers: requests on one connection mostly have the same one. */
const PARAM_NAMES = new WeakMap<HttpRequest["headers"], readonly string[]>();

/** Headers about arguments that the tool does not speak of: whoever stands behind us may know them. Mostly undefined. */
export function unknownParams(
  entry: Entry,
  headers: HttpRequest["headers"],
): Readonly<Record<string, string>> | undefined {
  let names = PARAM_NAMES.get(headers);
  if (!names) {
    names = Object.keys(headers).filter((name) => name.startsWith(PREFIX));
    PARAM_NAMES.set(headers, names);
  }
  if (names.length === 0) return undefined;
  const known = new Set(annotated(entry.primitive).map(({ name }) => PREFIX + name.toLowerCase()));
  const unknown = names.filter((name) => !known.has(name));
  if (unknown.length === 0) return undefined;
  return Object.fromEntries(unknown.map((name) => [name, headers[name] ?? ""]));
}

/** An annotation that is not valid is nobody's: the tool is then served as if it had none. */
function annotated(primitive: Primitive): readonly ParamHeader[] {
  const known = KNOWN.get(primitive);
  if (known) return known;
  const schema = primitive.definition.text.includes("x-mcp-header")
    ? primitive.definition.at(["inputSchema"])
    : undefined;
  const found = schema === undefined ? NONE : (paramHeaders(JSON.parse(stringOf(schema))) ?? NONE);
  KNOWN.set(primitive, found);
  return found;
}

function disagreement(header: string | undefined, argument: string | undefined): string | undefined {
  if (argument === undefined) return header === undefined ? undefined : "names an argument that is not there";
  // An object, say, has no header; the tool's own schema speaks about it.
  if (/^[{[]/.test(argument)) return header === undefined ? undefined : "differs from the body";
  if (header === undefined) return "is missing";
  const said = decodeHeader(header);
  const meant = decodeString(argument) ?? argument;
  return said === meant || isSameInteger(said, argument) ? undefined : "differs from the body";
}

/** 42, 42.0 and 4.2e1 are one integer. Beyond what a double holds exactly, only the spelling counts. */
function isSameInteger(said: string | undefined, argument: string): boolean {
  if (said === undefined || !/^-?\d/.test(argument) || !/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(said)) return false;
  return Number.isSafeInteger(Number(said)) && Number(said) === Number(argument);
}
