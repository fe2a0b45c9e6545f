/** Which arguments a condition asks for. A call that has none of them need not be taken apart to be judged. */
import type { ASTNode } from "@marcbachmann/cel-js";
import { jsonText } from "../../contract/index.ts";

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
  const name = op === "." || op === "[]" ? nameIn(args) : undefined;
  if (name === undefined) return collect(args, names);
  names.add(name);
  return true;
}

/** Every member that is named in it, but for those of the caller. Undefined: it may read any. */
export function fieldNames(root: ASTNode): readonly string[] | undefined {
  const names = new Set<string>();
  return collectFields(root, names) ? [...names] : undefined;
}

function collectFields(value: unknown, names: Set<string>): boolean {
  if (Array.isArray(value)) return value.every((one) => collectFields(one, names));
  if (!isNode(value)) return true;
  const { op, args } = value;
  if (op === "id") return args !== "args";
  if (op !== "." && op !== "[]") return collectFields(args, names);
  const [of, key] = Array.isArray(args) ? (args as readonly unknown[]) : [];
  if (isNode(of) && of.op === "id" && of.args === "principal") return true;
  const literal: unknown = isNode(key) && key.op === "value" ? key.args : key;
  if (typeof literal === "string") names.add(literal);
  // A place in a list is no name; what is worked out may be any.
  else if (isNode(literal) || typeof literal !== "bigint") return false;
  return (isNode(of) && of.op === "id") || collectFields(of, names);
}

/** Of `args.NAME` and `args["NAME"]`. */
function nameIn(parts: unknown): string | undefined {
  const [of, name] = Array.isArray(parts) ? parts : [];
  if (!isNode(of) || of.op !== "id" || of.args !== "args") return undefined;
  const literal: unknown = isNode(name) && name.op === "value" ? name.args : name;
  return typeof literal === "string" ? literal : undefined;
}

export function isNode(value: unknown): value is { readonly op: string; readonly args: unknown } {
  return typeof value === "object" && value !== null && "op" in value && "args" in value;
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
