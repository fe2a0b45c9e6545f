/** Says what is wrong with a config value: where it stands, what would be right, what was found. */
import * as z from "zod";
import { configSchema } from "./config-schema.ts";
import { nearest } from "./nearest.ts";

type Path = readonly PropertyKey[];
type Issue = z.core.$ZodIssue;
type JsonSchema = { properties?: Record<string, JsonSchema>; items?: JsonSchema };

/** `raw` is the whole parsed file, for the ids of its servers. Needs issues reported with their input. */
export function describeIssue(issue: Issue, raw: unknown): string[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => describeUnknown(issue.path, key, raw));
  }
  return [problem(formatPath(issue.path, raw), expectation(issue), showFound(issue.path, valueAt(raw, issue.path)))];
}

function problem(path: string, expected: string, found: string): string {
  return `${path}: ${expected}, found ${found}`;
}

/** `servers.crm.url`: a server is named by its id where it has one. */
export function formatPath(path: Path, raw: unknown): string {
  return path.reduce<string>((text, part, index) => {
    if (typeof part !== "number") return text === "" ? String(part) : `${text}.${String(part)}`;
    const id = valueAt(raw, [...path.slice(0, index + 1), "id"]);
    return typeof id === "string" && id !== "" ? `${text}.${id}` : `${text}[${part}]`;
  }, "");
}

function describeUnknown(path: Path, key: string, raw: unknown): string {
  const known = knownKeys(path);
  const meant = nearest(key, known);
  const hint = meant === undefined ? `expected one of ${known.join(", ")}` : `did you mean "${meant}"?`;
  return `${formatPath([...path, key], raw)}: unknown key, ${hint}`;
}

function knownKeys(path: Path): string[] {
  let schema = z.toJSONSchema(configSchema, { io: "input", unrepresentable: "any" }) as JsonSchema | undefined;
  for (const part of path) schema = typeof part === "number" ? schema?.items : schema?.properties?.[String(part)];
  return Object.keys(schema?.properties ?? {});
}

function expectation(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.message.startsWith("Invalid input") ? `expected ${kindName(issue.expected)}` : issue.message;
    case "invalid_value":
      return `expected ${issue.values.map((value) => JSON.stringify(value)).join(" or ")}`;
    case "too_small":
      return issue.origin === "string" ? "expected some text" : `expected at least ${issue.minimum}`;
    case "too_big":
      return `expected at most ${issue.maximum}`;
    case "invalid_union":
      return unionExpectation(issue);
    default:
      return issue.message;
  }
}

/** What the union itself says, else what the branch says that came nearest: one whose kind was right. */
function unionExpectation(issue: z.core.$ZodIssueInvalidUnion): string {
  if (issue.message !== "Invalid input") return issue.message;
  const near = issue.errors.find((branch) => branch.every(({ code }) => code !== "invalid_type"))?.[0];
  if (near) return expectation(near);
  const kinds = issue.errors.flat().map((inner) => expectation(inner).replace("expected ", ""));
  return `expected ${[...new Set(kinds)].join(" or ")}`;
}

function kindName(kind: string): string {
  const names: Readonly<Record<string, string>> = {
    string: "a string",
    number: "a number",
    int: "a whole number",
    boolean: "true or false",
    array: "a list",
    object: "a table",
    record: "a table",
  };
  return names[kind] ?? kind;
}

// A value under env or headers may be a secret written in the wrong place: only its kind is shown.
function showFound(path: Path, value: unknown): string {
  if (value === undefined) return "nothing";
  const isSensitive = path.includes("env") || path.includes("headers");
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a table";
  if (isSensitive) return kindName(typeof value);
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

function valueAt(raw: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, part) =>
      typeof value === "object" && value !== null ? (value as Record<PropertyKey, unknown>)[part] : undefined,
    raw,
  );
}
