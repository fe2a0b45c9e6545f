/**
 * Output schemas of 2026-07-28 as clients of the 2025 era can read them. Those want an object at the root and objects as
 * subschemas; one tool that breaks the rule makes them refuse the whole list. Everything else stays as it was written.
 */
import { JsonFault, jsonText, type Payload, payload } from "../../../contract/index.ts";

export type ProjectedSchema = {
  readonly schema: Readonly<Record<string, unknown>>;
  /** The value stands under `result`, and so must the structured content of the tool's results. */
  readonly isWrapped: boolean;
};

/** Keywords whose value holds subschemas: one, a list of them, or a map of them. */
const SINGLE = new Set(["items", "not", "if", "then", "else", "contains", "propertyNames", "contentSchema"]);
const LISTS = new Set(["allOf", "anyOf", "oneOf", "prefixItems", "items"]);
const MAPS = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
/** Booleans are at home here in every draft: they stay. */
const REST = new Set(["additionalProperties", "additionalItems", "unevaluatedProperties", "unevaluatedItems"]);

const WRAPPED_AT = "#/properties/result";

/** The list entry of a tool as a client of the 2025 era may see it. The same payload when nothing must change. */
export function projectTool(definition: Payload): Payload {
  let projected = definition;
  const input = schemaOf(definition, "inputSchema");
  if (input && hasBoolean(input.text)) {
    const changed = projectSubschemas(input.value, "");
    if (changed !== undefined && JSON.stringify(changed) !== JSON.stringify(input.value))
      projected = projected.splice(["inputSchema"], jsonText(changed));
  }
  const output = schemaOf(definition, "outputSchema");
  if (!output) return projected;
  const found = projectOutputSchema(output.value);
  if (!found) return projected.splice(["outputSchema"]);
  const isSame = JSON.stringify(found.schema) === JSON.stringify(output.value);
  return isSame ? projected : projected.splice(["outputSchema"], jsonText(found.schema));
}

/** Whether the results of this tool are wrapped for clients of the 2025 era. */
export function isWrapped(definition: Payload): boolean {
  const output = schemaOf(definition, "outputSchema");
  return output !== undefined && projectOutputSchema(output.value)?.isWrapped === true;
}

/** Undefined: it cannot be projected, and the tool is shown without it. */
export function projectOutputSchema(schema: unknown): ProjectedSchema | undefined {
  if (isRecord(schema) && schema.type === "object") {
    const same = projectSubschemas(schema, "");
    return same === undefined ? undefined : { schema: same as Record<string, unknown>, isWrapped: false };
  }
  // Inside another schema its own address would not be the root's any more.
  if (isRecord(schema) ? schema.$id !== undefined : typeof schema !== "boolean") return undefined;
  const inner = projectSubschemas(schema, WRAPPED_AT);
  if (inner === undefined) return undefined;
  const { $schema, ...result } = inner as Record<string, unknown>;
  const wrapped = { type: "object", properties: { result }, required: ["result"] };
  return { schema: $schema === undefined ? wrapped : { $schema, ...wrapped }, isWrapped: true };
}

/** `prefix`: where the root moves to; "" where it stays. Undefined for what cannot be moved. */
function projectSubschemas(schema: unknown, prefix: string): unknown {
  if (typeof schema === "boolean") return schema ? {} : { not: {} };
  if (!isRecord(schema)) return schema;
  const projected: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    const changed = projectKeyword(key, value, prefix);
    if (changed === undefined) return undefined;
    // Not by assignment: a member may be called `__proto__`.
    Object.defineProperty(projected, key, { value: changed, enumerable: true, configurable: true, writable: true });
  }
  return projected;
}

function projectKeyword(key: string, value: unknown, prefix: string): unknown {
  if (prefix !== "" && (key === "$recursiveRef" || key === "$recursiveAnchor")) return undefined;
  if (prefix !== "" && (key === "$ref" || key === "$dynamicRef")) return moveReference(value, prefix);
  if (REST.has(key) && typeof value === "boolean") return value;
  if (MAPS.has(key) && isRecord(value)) return projectMembers(value, prefix);
  if (LISTS.has(key) && Array.isArray(value)) return projectAll(value, prefix);
  if (SINGLE.has(key) || REST.has(key)) return projectSubschema(value, prefix);
  return value;
}

/** A subschema with an address of its own is the root of what is inside it. */
function projectSubschema(schema: unknown, prefix: string): unknown {
  return projectSubschemas(schema, isRecord(schema) && typeof schema.$id === "string" ? "" : prefix);
}

function projectAll(schemas: readonly unknown[], prefix: string): unknown {
  const projected = schemas.map((schema) => projectSubschema(schema, prefix));
  return projected.includes(undefined) ? undefined : projected;
}

function projectMembers(schemas: Record<string, unknown>, prefix: string): unknown {
  const entries = Object.entries(schemas).map(([name, schema]) => [name, projectSubschema(schema, prefix)] as const);
  return entries.some(([, schema]) => schema === undefined) ? undefined : Object.fromEntries(entries);
}

/** References from the root move with it. Names of anchors and addresses of other documents stay. */
function moveReference(value: unknown, prefix: string): unknown {
  if (typeof value !== "string" || (value !== "#" && !value.startsWith("#/"))) return value;
  const [keyword = ""] = value.slice(2).split("/");
  // What stands under a keyword we do not follow was not moved.
  const isFollowed =
    value === "#" || MAPS.has(keyword) || LISTS.has(keyword) || SINGLE.has(keyword) || REST.has(keyword);
  return isFollowed ? prefix + value.slice(1) : undefined;
}

function schemaOf(definition: Payload, key: string): { text: string; value: unknown } | undefined {
  if (!definition.text.includes(`"${key}"`)) return undefined;
  try {
    const text = definition.at([key]);
    return text === undefined ? undefined : { text, value: payload(text).value() };
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    return { text: "", value: undefined };
  }
}

function hasBoolean(text: string): boolean {
  return text.includes("true") || text.includes("false");
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
