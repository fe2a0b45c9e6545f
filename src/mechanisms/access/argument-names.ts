/** Which arguments a condition asks for. A call that has none of them need not be taken apart to be judged. */
import type { ASTNode } from "@marcbachmann/cel-js";
import { jsonText } from "../../contract/index.ts";
import { isNode, partsOf, reads, textOf, textsIn, WALKS } from "./condition-nodes.ts";

/** As JSON text of one character per byte, with their quotes. Undefined: it may ask for any, or for how many there are. */
export function argumentNames(root: ASTNode): readonly string[] | undefined {
  const names = new Set<string>();
  return collect(root, names) ? [...names].map(jsonText) : undefined;
}

/** Whether arguments are nowhere named otherwise than one by one. */
function collect(value: unknown, names: Set<string>): boolean {
  if (Array.isArray(value)) return value.every((one) => collect(one, names));
  if (!isNode(value)) return true;
  const { op, args } = value;
  if (op === "id") return args !== "args";
  const name = nameIn(op, args);
  if (name === undefined) return collect(args, names);
  names.add(name);
  return true;
}

/** Of `args.NAME`, `args["NAME"]` and `"NAME" in args`. */
function nameIn(op: string, parts: unknown): string | undefined {
  const [first, second] = partsOf(parts);
  const [of, name] = op === "in" ? [second, first] : [first, second];
  if (op !== "in" && op !== "." && op !== "[]") return undefined;
  return isNode(of) && of.op === "id" && of.args === "args" ? textOf(name) : undefined;
}

/** The members that a condition reads, in arguments and in what they hold, but for those of the caller. */
export type FieldNames = {
  readonly named: readonly string[];
  /** Where it may read others, too: the texts in it, each of which may be the name of one. */
  readonly others: readonly string[] | undefined;
};

export function fieldNames(root: ASTNode): FieldNames {
  const found: Found = { names: new Set(), isAny: false };
  collectFields(root, found);
  return { named: [...found.names], others: found.isAny ? [...new Set(textsIn(root))] : undefined };
}

type Found = { readonly names: Set<string>; isAny: boolean };

function collectFields(value: unknown, found: Found): void {
  if (Array.isArray(value)) for (const one of value) collectFields(one, found);
  if (!isNode(value)) return;
  const { op, args } = value;
  const [first, second, third] = partsOf(args);
  if (op === "id") found.isAny ||= args === "args";
  else if (op === "." || op === "[]") collectMember(first, second, found);
  else if (op === "in" && mayHoldArguments(second)) collectSought(first, second, found);
  else {
    if (op === "rcall" && WALKS.has(first) && mayHoldArguments(second)) collectElements(third, found);
    // What is held against a map is one, too.
    if (op === "map") for (const entry of partsOf(args)) collectName(partsOf(entry)[0], found);
    collectFields(args, found);
  }
}

function collectMember(of: unknown, key: unknown, found: Found): void {
  if (isNode(of) && of.op === "id" && of.args === "principal") return;
  // A place in a list is no name; what is worked out may be any.
  if (!isPlace(key)) collectName(key, found);
  if (!isNode(of) || of.op !== "id") collectFields(of, found);
}

/** What is looked for in arguments is the name of a member, where they are no list. */
function collectSought(key: unknown, of: unknown, found: Found): void {
  collectName(key, found);
  if (!isNode(of) || of.op !== "id" || textOf(key) === undefined) collectFields(of, found);
}

function collectName(key: unknown, found: Found): void {
  const name = textOf(key);
  if (name !== undefined) {
    found.names.add(name);
    return;
  }
  found.isAny = true;
  collectFields(key, found);
}

/** A walk goes over names, where it is over no list: what its elements are held against, as they are, may be one. */
function collectElements(given: unknown, found: Found): void {
  const [variable, ...body] = partsOf(given);
  if (isNode(variable) && usesWhole(body, variable.args)) for (const text of textsIn(body)) found.names.add(text);
}

function usesWhole(value: unknown, variable: unknown): boolean {
  if (Array.isArray(value)) return value.some((one) => usesWhole(one, variable));
  if (!isNode(value)) return false;
  if (value.op === "id") return value.args === variable;
  const [of, key] = partsOf(value.args);
  const isOfOne = (value.op === "." || value.op === "[]") && isNode(of) && of.op === "id";
  return usesWhole(isOfOne ? key : value.args, variable);
}

const OF_CALL: ReadonlySet<unknown> = new Set(["principal", "tool", "server", "protocol"]);

/** Whether it reads anything but what the gateway itself says of a call. */
function mayHoldArguments(value: unknown): boolean {
  return reads(value, (name) => !OF_CALL.has(name));
}

function isPlace(key: unknown): boolean {
  return typeof key === "bigint" || (isNode(key) && key.op === "value" && typeof key.args === "bigint");
}

/**
 * `text`: everything that was said with a call, one character per byte. A name can also be written with escapes and letters that
 * some readers take for others, so that those may be anything; upper case and blanks make no difference.
 */
export function mentionsAny(text: string, names: readonly string[]): boolean {
  if (names.length === 0) return false;
  return MAYBE_OTHERS.test(text) || mentionOf(names).test(text);
}

const MAYBE_OTHERS = /[\\\x7f-\xff]/;
const MENTIONS = new WeakMap<readonly string[], RegExp>();

function mentionOf(names: readonly string[]): RegExp {
  let mention = MENTIONS.get(names);
  if (!mention) {
    const quoted = names.map((name) => {
      const letters = [...name.slice(1, -1).replaceAll(" ", "")];
      return letters.map((letter) => letter.replace(/[\\^$.*+?()[\]{}|]/, "\\$&")).join(" *");
    });
    mention = new RegExp(`" *(?:${quoted.join("|")}) *"`, "i");
    MENTIONS.set(names, mention);
  }
  return mention;
}
