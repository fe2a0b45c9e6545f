/** What a condition says of the caller: the texts that it holds, and what it compares with something that is not written in it. */
import type { ASTNode } from "@marcbachmann/cel-js";
import { isNode } from "./argument-names.ts";

export type AboutCaller = {
  /** Every text in it, as it is meant: without quotes and escapes. */
  readonly texts: readonly string[];
  /** The members of `principal` that are compared with what only the call knows; `*`: any of them. */
  readonly open: ReadonlySet<string>;
  /** The members of `principal` that it reads; `*`: any of them. */
  readonly members: ReadonlySet<string>;
};

/** Undefined: it does not look at the caller. */
export function aboutCaller(root: ASTNode): AboutCaller | undefined {
  const members = readMembers(root);
  if (members.size === 0) return undefined;
  const open = new Set<string>();
  collectOpen(root, new Set(), open);
  return { texts: textsIn(root), open, members };
}

const ANY_MEMBER = "*";
/** What joins the answers of comparisons, and compares nothing itself. */
const JOINING: ReadonlySet<string> = new Set(["&&", "||", "!_", "?:"]);
const WALKS: ReadonlySet<string> = new Set(["all", "exists", "exists_one"]);

/** `walked`: what of the caller the list has that is walked over here, so that its elements are the caller's, too. */
function collectOpen(value: unknown, walked: ReadonlySet<string>, open: Set<string>): void {
  if (Array.isArray(value)) {
    for (const one of value) collectOpen(one, walked, open);
    return;
  }
  if (!isNode(value)) return;
  const { op, args } = value;
  if (JOINING.has(op)) return collectOpen(args, walked, open);
  const [called, receiver, given] = op === "rcall" && Array.isArray(args) ? (args as readonly unknown[]) : [];
  if (typeof called === "string" && WALKS.has(called)) {
    return collectOpen(bodyOf(given), new Set([...walked, ...readMembers(receiver)]), open);
  }
  // Where one side is written out, it is known whom it means.
  if (operandsOf(op, args).some(isWritten)) return;
  for (const member of [...walked, ...readMembers(value)]) open.add(member);
}

/** Without the name of the element. */
function bodyOf(given: unknown): unknown {
  return Array.isArray(given) ? given.slice(1) : given;
}

function operandsOf(op: string, args: unknown): readonly unknown[] {
  const parts: readonly unknown[] = Array.isArray(args) ? args : [args];
  const isCall = op === "call" || op === "rcall";
  // A member is no operand: its name is no text that something is compared with.
  if (op === "." || op === "[]") return [];
  return isCall ? parts.slice(1).flat() : parts;
}

function isWritten(value: unknown): boolean {
  if (!isNode(value)) return false;
  if (value.op === "value") return typeof value.args === "string";
  return value.op === "list" && Array.isArray(value.args) && value.args.every(isWritten);
}

function readMembers(value: unknown): ReadonlySet<string> {
  if (Array.isArray(value)) return new Set(value.flatMap((one) => [...readMembers(one)]));
  if (!isNode(value)) return new Set();
  const { op, args } = value;
  if (op === "id") return new Set(args === "principal" ? [ANY_MEMBER] : []);
  if (op !== "." && op !== "[]") return readMembers(args);
  const [of, key] = Array.isArray(args) ? (args as readonly unknown[]) : [];
  if (!isNode(of) || of.op !== "id" || of.args !== "principal") return readMembers(args);
  const name: unknown = isNode(key) && key.op === "value" ? key.args : key;
  return new Set([typeof name === "string" ? name : ANY_MEMBER]);
}

function textsIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (!isNode(value)) return [];
  if (value.op === "value") return typeof value.args === "string" ? [value.args] : [];
  return textsIn(value.args);
}
