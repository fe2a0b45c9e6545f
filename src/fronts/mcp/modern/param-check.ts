/**
 * Arguments that a tool wants in headers, too: both must say the same, because others act on the headers alone. Servers get these
 * headers as they are written here from the arguments; what else a client says in such headers nobody has judged, and none gets.
 */
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
