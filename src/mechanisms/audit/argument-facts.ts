/** What is recorded of a call's arguments: their names, what kind of value each is, a digest; values only by rule. */
import { hash } from "node:crypto";
import {
  type Call,
  canonicalJson,
  type Members,
  matchesPattern,
  membersAt,
  stringOf,
  textOf,
} from "../../contract/index.ts";
import { redactValue } from "./redact.ts";

/** Values that an operator wants in the trail. */
export type CaptureRule = {
  /** Patterns of names as in catalogs: `crm.*`. */
  readonly tools: readonly string[];
  readonly arguments: readonly string[];
};

export type ArgumentFacts = {
  /** As `digestJson`: of the canonical text. */
  readonly args_sha256?: string;
  /** Names and kinds of values. */
  readonly arguments?: Readonly<Record<string, string>>;
  readonly captured?: Readonly<Record<string, unknown>>;
};

const MAX_NAMES = 32;
const MAX_NAME = 64;

/** Nothing of arguments that cannot be read: such a call is refused elsewhere. Never throws: its event must not be lost. */
export function argumentFacts(call: Call, rules: readonly CaptureRule[]): ArgumentFacts {
  try {
    const text = call.verb === "call" || call.verb === "get" ? call.input.at(["arguments"]) : undefined;
    const members = text === undefined ? undefined : membersAt(text, 0);
    if (text === undefined || !members) return {};
    return {
      args_sha256: hash("sha256", canonicalJson(text), "base64url"),
      arguments: shapeOf(members),
      ...captured(call, members, rules),
    };
  } catch {
    return {};
  }
}

function shapeOf(members: Members): Record<string, string> {
  const shown = members.keys.slice(0, MAX_NAMES).map((key) => [nameOf(key), kindOf(members.textOf(key) ?? "")]);
  return Object.fromEntries(shown);
}

function nameOf(key: string): string {
  return stringOf(key).slice(0, MAX_NAME);
}

function kindOf(json: string): string {
  const first = json.charAt(0);
  if (first === '"') return "string";
  if (first === "{") return "object";
  if (first === "[") return "array";
  if (first === "t" || first === "f") return "boolean";
  return first === "n" ? "null" : "number";
}

function captured(call: Call, members: Members, rules: readonly CaptureRule[]): Pick<ArgumentFacts, "captured"> {
  if (rules.length === 0) return {};
  const { provider, name } = call.target;
  const wanted = rules.filter(({ tools }) => tools.some((pattern) => matchesPattern(pattern, `${provider}.${name}`)));
  const names = new Set(wanted.flatMap((rule) => rule.arguments));
  const values = [...names].flatMap((key): [string, unknown][] => {
    const text = members.textOf(textOf(key));
    return text === undefined ? [] : [[key, redactValue(key, JSON.parse(stringOf(text)))]];
  });
  return values.length === 0 ? {} : { captured: Object.fromEntries(values) };
}
