/** Reads JSON of others: every member may be anything, and a wrong one is like a missing one. */
export type JsonObject = Readonly<Record<string, unknown>>;

const NOTHING: JsonObject = {};

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value as an object, or an empty one. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : NOTHING;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function objectsIn(value: unknown): readonly JsonObject[] {
  return listOf(value).filter(isObject);
}

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Throws SyntaxError. */
export function parseJson(text: string): unknown {
  return JSON.parse(text);
}
