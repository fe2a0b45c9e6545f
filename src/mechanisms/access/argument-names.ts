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

/** Of `args.NAME` and `args["NAME"]`. */
function nameIn(parts: unknown): string | undefined {
  const [of, name] = Array.isArray(parts) ? parts : [];
  if (!isNode(of) || of.op !== "id" || of.args !== "args") return undefined;
  const literal: unknown = isNode(name) && name.op === "value" ? name.args : name;
  return typeof literal === "string" ? literal : undefined;
}

function isNode(value: unknown): value is { readonly op: string; readonly args: unknown } {
  return typeof value === "object" && value !== null && "op" in value && "args" in value;
}

/**
 * `text`: everything that was said with a call, one character per byte. A name can also be written with escapes, so that those may
 * be anything.
 */
export function mentionsAny(text: string, names: readonly string[]): boolean {
  return text.includes("\\") || names.some((name) => text.includes(name));
}
