/** Says what is wrong with a config value: what would be right, what was found, what was probably meant. */
import * as z from "zod";
import { configSchema } from "./config-schema.ts";
import { nearest } from "./nearest.ts";
import { type Problem, valueAt } from "./problem.ts";
import { showFound } from "./show-found.ts";
import type { KeyPath } from "./toml-lines.ts";

type Issue = z.core.$ZodIssue;
type JsonSchema = { properties?: Record<string, JsonSchema>; items?: JsonSchema };

/** `raw` is the whole parsed file. */
export function describeIssue(issue: Issue, raw: unknown): Problem[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({ path: [...issue.path, key], text: describeUnknown(issue.path, key) }));
  }
  // The names of keys are no secret.
  if (issue.code === "invalid_key") {
    const name = JSON.stringify(issue.path.at(-1));
    return [{ path: issue.path, text: `${issue.issues.map(expectation).join(", ")}, found ${name}` }];
  }
  const value = valueAt(raw, issue.path);
  const found = `found ${showFound(issue.path, value)}`;
  return [{ path: issue.path, text: `${expectation(issue)}, ${found}${suggestion(issue, value)}` }];
}

function describeUnknown(path: KeyPath, key: string): string {
  const known = knownKeys(path);
  const meant = nearest(key, known);
  if (meant !== undefined) return `unknown key, did you mean "${meant}"?`;
  const home = path.length === 0 ? homeOf(key) : undefined;
  if (home !== undefined) return `unknown key, did you mean "${key}" under ${home}?`;
  return `unknown key, expected one of ${known.join(", ")}`;
}

/** The table in which a key that was written above all tables has a meaning. */
function homeOf(key: string): string | undefined {
  if (knownKeys(["gateway"]).includes(key)) return "[gateway]";
  return knownKeys(["servers", 0]).includes(key) ? "[[servers]]" : undefined;
}

let whole: JsonSchema | undefined;

/** Made when it is first needed: most files have nothing wrong with them. */
function wholeSchema(): JsonSchema {
  whole ??= z.toJSONSchema(configSchema, { io: "input", unrepresentable: "any" }) as JsonSchema;
  return whole;
}

function knownKeys(path: KeyPath): string[] {
  let schema: JsonSchema | undefined = wholeSchema();
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

function suggestion(issue: Issue, value: unknown): string {
  if (issue.code === "invalid_value" && typeof value === "string") {
    const meant = nearest(value, issue.values.map(String));
    return meant === undefined ? "" : `, did you mean ${JSON.stringify(meant)}?`;
  }
  if (issue.code === "invalid_type" && issue.expected === "array") {
    if (issue.path.length === 1 && typeof value === "object") return `; write [[${String(issue.path[0])}]]`;
    return typeof value === "object" ? "" : "; write it in [ ]";
  }
  if (issue.code === "custom" && issue.params?.meant !== undefined) {
    return `, did you mean ${JSON.stringify(issue.params.meant)}?`;
  }
  return issue.code === "invalid_union" ? suggestReference(value) : "";
}

/** `{ fromenv = "A" }`: the names of keys are no secret. */
function suggestReference(value: unknown): string {
  const keys = typeof value === "object" && value !== null ? Object.keys(value) : [];
  const meant = keys.map((key) => nearest(key, ["fromEnv", "fromFile"])).find((key) => key !== undefined);
  return meant === undefined || keys.includes(meant) ? "" : `, did you mean "${meant}"?`;
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
