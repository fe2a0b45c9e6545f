/** `key=value` words as the arguments of a tool, typed by its input schema. */
import { nearest } from "../../server/config/nearest.ts";
import { isObject, type JsonObject, listOf, objectOf, parseJson, textOf } from "../json.ts";
import { resolveSchema, typesOf } from "./schema-types.ts";

/** Why the words are no arguments, as a sentence about them. */
export class ArgumentFault extends Error {
  override readonly name = "ArgumentFault";
}

/** Throws ArgumentFault. One word that begins with `{` is the whole object as JSON. */
export function readArguments(words: readonly string[], schema: JsonObject): JsonObject {
  const [first = ""] = words;
  const read = first.trimStart().startsWith("{") && words.length === 1 ? readObject(first) : readPairs(words, schema);
  const missing = listOf(schema.required).filter((key) => typeof key === "string" && !Object.hasOwn(read, key));
  if (missing.length > 0) {
    throw new ArgumentFault(`missing ${missing.map((key) => describeKey(String(key), schema)).join(", ")}`);
  }
  return read;
}

function readObject(text: string): JsonObject {
  try {
    const value = parseJson(text);
    if (isObject(value)) return value;
  } catch (error) {
    throw new ArgumentFault(`the arguments are not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  throw new ArgumentFault("the arguments are JSON, but no object");
}

function readPairs(words: readonly string[], schema: JsonObject): JsonObject {
  const read: Record<string, unknown> = Object.create(null);
  for (const word of words) {
    const equals = word.indexOf("=");
    if (equals < 1) throw new ArgumentFault(`expected key=value or one JSON object, found ${JSON.stringify(word)}`);
    const key = word.slice(0, equals);
    const value = readValue(key, word.slice(equals + 1), schema);
    read[key] = Object.hasOwn(read, key) ? addTo(key, read[key], value, schema) : value;
  }
  return { ...read };
}

function readValue(key: string, text: string, schema: JsonObject): unknown {
  const properties = objectOf(schema.properties);
  if (!Object.hasOwn(properties, key)) {
    checkUnknown(key, schema, Object.keys(properties));
    return guess(text);
  }
  const member = resolveSchema(properties[key], schema);
  const types = typesOf(member, schema);
  return types.has("array") && !text.trimStart().startsWith("[")
    ? [convert(key, text, resolveSchema(member.items, schema), schema)]
    : convert(key, text, member, schema);
}

function checkUnknown(key: string, { additionalProperties }: JsonObject, known: readonly string[]): void {
  const meant = nearest(key, known);
  if (additionalProperties !== false && meant === undefined) return;
  const hint = meant === undefined ? `expected one of ${known.join(", ") || "nothing"}` : `did you mean "${meant}"?`;
  throw new ArgumentFault(`no argument is called "${key}", ${hint}`);
}

/** Written twice: a list that grows. */
function addTo(key: string, before: unknown, value: unknown, schema: JsonObject): unknown {
  const types = typesOf(resolveSchema(objectOf(schema.properties)[key], schema), schema);
  if (!types.has("array")) throw new ArgumentFault(`"${key}" is given twice, and is no list`);
  return [...listOf(before), ...listOf(value)];
}

/** The first type that the text fits, strictest first. */
function convert(key: string, text: string, member: JsonObject, root: JsonObject): unknown {
  const types = typesOf(member, root);
  if (types.size === 0) return guess(text);
  if (types.has("null") && text === "null") return null;
  if (types.has("boolean") && (text === "true" || text === "false")) return text === "true";
  if (types.has("integer") && /^[+-]?\d+$/.test(text)) return Number(text);
  if (types.has("number") && text.trim() !== "" && Number.isFinite(Number(text))) return Number(text);
  const parsed = types.has("object") || types.has("array") ? parsedOf(text) : undefined;
  if (types.has("object") && isObject(parsed)) return parsed;
  if (types.has("array") && Array.isArray(parsed)) return parsed;
  if (types.has("string")) return checkChoice(key, text, member);
  throw new ArgumentFault(`"${key}": expected ${[...types].join(" or ")}, found ${JSON.stringify(text)}`);
}

function checkChoice(key: string, text: string, member: JsonObject): string {
  const choices = listOf(member.enum).filter((choice) => typeof choice === "string");
  if (choices.length === 0 || choices.includes(text)) return text;
  const meant = nearest(text, choices);
  const hint = meant === undefined ? "" : `, did you mean "${meant}"?`;
  throw new ArgumentFault(`"${key}": expected ${choices.join(" or ")}, found ${JSON.stringify(text)}${hint}`);
}

/** Without a schema: JSON where it is JSON, text otherwise. */
function guess(text: string): unknown {
  return /^(?:true|false|null|-?\d|[[{"])/.test(text) ? (parsedOf(text) ?? text) : text;
}

function parsedOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function describeKey(key: string, schema: JsonObject): string {
  const member = resolveSchema(objectOf(schema.properties)[key], schema);
  const types = [...typesOf(member, schema)].join(" or ");
  const about = textOf(member.description);
  return `"${key}"${types ? ` (${types})` : ""}${about ? `: ${about}` : ""}`;
}
