/** Header values of 2026-07-28: what does not fit a header is sent as `=?base64?…?=`. All texts here are ordinary strings. */

const SENTINEL = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/;
const PLAIN = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** The value as it may stand in a header. */
export function encodeHeader(value: string): string {
  if (PLAIN.test(value) && !SENTINEL.test(value)) return value;
  return `=?base64?${Buffer.from(value, "utf8").toString("base64")}?=`;
}

/** What a header value (one character per byte) says; undefined when its base64 or UTF-8 is broken. */
export function decodeHeader(value: string): string | undefined {
  const encoded = SENTINEL.exec(value)?.[1];
  if (encoded === undefined) return value;
  const bytes = Buffer.from(encoded, "base64");
  if (bytes.toString("base64") !== encoded) return undefined;
  const text = bytes.toString("utf8");
  return Buffer.from(text, "utf8").equals(bytes) ? text : undefined;
}

/** Methods whose requests name their target in `Mcp-Name`, and where that name stands in params. */
export const NAMED_METHODS: ReadonlyMap<string, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"],
]);

/** A property of an input schema whose argument is also sent as a header. */
export type ParamHeader = { readonly name: string; readonly path: readonly string[]; readonly type: string };

/** Of one tool. Each becomes a header of every call, and servers and proxies take about a hundred of those. */
export const MAX_PARAM_HEADERS = 64;

/**
 * The annotated properties of an input schema. Undefined: an annotation is not valid, or there are more than
 * `MAX_PARAM_HEADERS`, and such a tool must not be shown.
 * Only a chain of `properties` is followed, and only strings, integers and booleans may be annotated.
 */
export function paramHeaders(schema: unknown): readonly ParamHeader[] | undefined {
  const found: ParamHeader[] = [];
  return collect(schema, [], found) && areDistinct(found) ? found : undefined;
}

function collect(schema: unknown, path: readonly string[], found: ParamHeader[]): boolean {
  const { properties } = asRecord(schema);
  for (const [key, property] of Object.entries(asRecord(properties))) {
    const { "x-mcp-header": name, type } = asRecord(property);
    if (name !== undefined) {
      const isValid = typeof name === "string" && /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/.test(name);
      if (found.length === MAX_PARAM_HEADERS || !isValid || !["string", "integer", "boolean"].includes(String(type)))
        return false;
      found.push({ name, path: [...path, key], type: String(type) });
    }
    if (!collect(property, [...path, key], found)) return false;
  }
  return true;
}

function areDistinct(found: readonly ParamHeader[]): boolean {
  return new Set(found.map(({ name }) => name.toLowerCase())).size === found.length;
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

/** The header text of an argument's value; undefined for one that has no header: null, absent, or of another type. */
export function paramText(value: unknown): string | undefined {
  if (typeof value === "string" || typeof value === "boolean") return String(value);
  return typeof value === "number" && Number.isInteger(value) ? String(value) : undefined;
}
