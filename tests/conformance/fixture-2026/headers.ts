/** Checks the headers that repeat parts of the body. */
import type { IncomingHttpHeaders } from "node:http";
import { tools } from "../offers/methods.ts";
import type { Json } from "../sdk.ts";
import { headerMismatch, isObject, type Request } from "./protocol.ts";

/** Which member of params is in `Mcp-Name`. */
const NAMES: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};

/** Throws if a header is missing or differs. */
export function checkHeaders(headers: IncomingHttpHeaders, { method, params }: Request): void {
  if (headers["mcp-method"] !== method) throw headerMismatch("Mcp-Method");
  const member = NAMES[method];
  if (member !== undefined && decode(headers["mcp-name"]) !== params[member]) throw headerMismatch("Mcp-Name");
  if (method === "tools/call") checkArguments(headers, params);
}

function checkArguments(headers: IncomingHttpHeaders, params: Json): void {
  const schema = tools().find(({ name }) => name === params.name)?.inputSchema;
  const given = isObject(params.arguments) ? params.arguments : {};
  for (const [name, property] of Object.entries(schema?.properties ?? {})) {
    const suffix = property["x-mcp-header"];
    const value = given[name];
    if (suffix === undefined || value === undefined || value === null) continue;
    const header = decode(headers[`mcp-param-${suffix.toLowerCase()}`]);
    const isEqual = typeof value === "number" ? Number(header) === value : header === String(value);
    if (header === undefined || !isEqual) throw headerMismatch(`Mcp-Param-${suffix}`);
  }
}

/** Undefined if absent or not valid base64. */
function decode(value: string | string[] | undefined): string | undefined {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(String(value))?.[1];
  if (encoded === undefined) return value === undefined ? undefined : String(value);
  const bytes = Buffer.from(encoded, "base64");
  // Node's decoder is lenient; only canonical base64 survives the way back.
  return bytes.toString("base64") === encoded ? bytes.toString("utf8") : undefined;
}
