/** What a JSON Schema says about the type of a value, as far as typing a word on a command line needs it. */
import { type JsonObject, listOf, objectOf, objectsIn, textOf } from "../json.ts";

const MAX_STEPS = 8;

/** Follows `$ref` inside the same schema. What leads nowhere allows everything. */
export function resolveSchema(schema: unknown, root: JsonObject): JsonObject {
  let current = objectOf(schema);
  for (let step = 0; step < MAX_STEPS; step++) {
    const reference = textOf(current.$ref);
    if (reference === undefined) return current;
    if (!reference.startsWith("#")) return {};
    const parts = reference.slice(1).split("/").slice(1).map(unescapePointer);
    current = objectOf(parts.reduce<unknown>((value, part) => objectOf(value)[part], root));
  }
  return {};
}

function unescapePointer(part: string): string {
  return part.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** Empty: any type. */
export function typesOf(schema: JsonObject, root: JsonObject, depth = 0): ReadonlySet<string> {
  const { type } = schema;
  if (typeof type === "string") return new Set([type]);
  if (Array.isArray(type)) return new Set(type.filter((one) => typeof one === "string"));
  const values = "const" in schema ? [schema.const] : listOf(schema.enum);
  if (values.length > 0) return new Set(values.map(typeName));
  if (depth >= MAX_STEPS) return new Set();
  const branches = [...objectsIn(schema.anyOf), ...objectsIn(schema.oneOf), ...objectsIn(schema.allOf)];
  const types = branches.map((branch) => typesOf(resolveSchema(branch, root), root, depth + 1));
  if (types.some((set) => set.size === 0)) return new Set();
  const all = new Set(types.flatMap((set) => [...set]));
  return all.size === 0 && (schema.properties !== undefined || schema.required !== undefined)
    ? new Set(["object"])
    : all;
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
