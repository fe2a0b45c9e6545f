/** What is recorded of a call's arguments: their names, what kind of value each is, a digest; values only by rule. */
import { hash } from "node:crypto";
import {
  type Call,
  canonicalJson,
  decodeString,
  JsonFault,
  MAX_ITEMS,
  MAX_MEMBERS,
  matchesPattern,
  Scanner,
  stringOf,
  type Target,
} from "../../contract/index.ts";
import { redactText, redactValue } from "./redact.ts";

/** Values that an operator wants in the trail. */
export type CaptureRule = {
  /** Patterns of names as rules have them (`crm.*`), or with the id of the server in the place of its prefix. */
  readonly tools: readonly string[];
  readonly arguments: readonly string[];
};

/** The name that rules have for it. */
type DottedOf = (target: Target) => string;

export type ArgumentFacts = {
  /** As `digestJson`: of the canonical text. */
  readonly args_sha256?: string;
  /** Instead, of arguments with so many keys or items that they are not brought into one form: of the text as it came. */
  readonly args_text_sha256?: string;
  /** Names and kinds of values. */
  readonly arguments?: Readonly<Record<string, string>>;
  /** How many more there are. */
  readonly arguments_left_off?: number;
  readonly captured?: Readonly<Record<string, unknown>>;
};

const MAX_NAMES = 32;
const MAX_NAME = 64;
/** Of one name that is there more than once: the first of them, and the last. */
const MAX_REPEATS = 16;

/**
 * Nothing of arguments that are no object. Whatever else a caller does to them, names, a digest and what rules want are recorded:
 * servers take names that are escaped, repeated or in another case. Never throws: its event must not be lost.
 */
export function argumentFacts(call: Call, rules: readonly CaptureRule[], dottedOf: DottedOf): ArgumentFacts {
  try {
    const text = call.verb === "call" || call.verb === "get" ? call.input.at(["arguments"]) : undefined;
    if (text?.charAt(0) !== "{") return {};
    const { shown, leftOff, captured } = read(text, wantedOf(call, rules, dottedOf));
    const shape = [...shown].map(([name, kind]) => [shownName(name), kind]);
    const values = [...captured].map(([name, found]) => [name, redactValue(name, found.length > 1 ? found : found[0])]);
    return {
      ...digestOf(text),
      arguments: Object.fromEntries(shape),
      ...(leftOff > 0 && { arguments_left_off: leftOff }),
      ...(values.length > 0 && { captured: Object.fromEntries(values) }),
    };
  } catch {
    return {};
  }
}

type Read = {
  /** Kinds, by names as ordinary strings. */
  readonly shown: Map<string, string>;
  readonly captured: Map<string, unknown[]>;
  leftOff: number;
};

/** In one pass, and of each key only whether it is one of the few that something is said of: there may be a million. */
function read(text: string, wanted: Wanted): Read {
  const found: Read = { shown: new Map(), captured: new Map(), leftOff: 0 };
  let others = 0;
  new Scanner(text).members(1, (key, start, end) => {
    const name = (key.includes("\\") ? decodeString(`"${key}"`) : undefined) ?? stringOf(key);
    if (found.shown.has(name)) found.shown.set(name, "repeated");
    else if (found.shown.size < MAX_NAMES) found.shown.set(name, kindOf(text.charAt(start)));
    else found.leftOff++;
    const isWanted = wanted.names.has(name);
    const isOther = !isWanted && name.length <= wanted.longest && wanted.folded.has(folded(name));
    if (!isWanted && !(isOther && others++ < MAX_NAMES)) return;
    const values = found.captured.get(name) ?? [];
    // Most readers take the last one.
    values[Math.min(values.length, MAX_REPEATS - 1)] = JSON.parse(stringOf(text.slice(start, end)));
    found.captured.set(name, values);
  });
  return found;
}

type Wanted = {
  readonly names: ReadonlySet<string>;
  /** Some servers do not mind case. */
  readonly folded: ReadonlySet<string>;
  readonly longest: number;
};

/** The names of which rules want the values. */
function wantedOf({ target }: Call, rules: readonly CaptureRule[], dottedOf: DottedOf): Wanted {
  const written = rules.length === 0 ? [] : [dottedOf(target), `${target.provider}.${target.name}`];
  const isMeant = (pattern: string) => written.some((name) => matchesPattern(pattern, name));
  const fitting = rules.filter(({ tools }) => tools.some(isMeant));
  const names = fitting.flatMap((rule) => rule.arguments);
  const longest = names.reduce((most, { length }) => Math.max(most, length), 0);
  return { names: new Set(names), folded: new Set(names.map(folded)), longest };
}

function folded(name: string): string {
  return name.toUpperCase().toLowerCase();
}

function digestOf(text: string): Pick<ArgumentFacts, "args_sha256" | "args_text_sha256"> {
  try {
    return { args_sha256: hash("sha256", canonicalJson(text, MAX_MEMBERS, MAX_ITEMS), "base64url") };
  } catch (error) {
    if (!(error instanceof JsonFault && error.reason === "members")) throw error;
    return { args_text_sha256: hash("sha256", Buffer.from(text, "latin1"), "base64url") };
  }
}

/** A secret may be in the wrong place. */
function shownName(name: string): string {
  return redactText(name.slice(0, MAX_NAME * 4)).slice(0, MAX_NAME);
}

function kindOf(first: string): string {
  if (first === '"') return "string";
  if (first === "{") return "object";
  if (first === "[") return "array";
  if (first === "t" || first === "f") return "boolean";
  return first === "n" ? "null" : "number";
}
