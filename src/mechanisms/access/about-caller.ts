/** What a condition says of the caller: the texts that it holds, and what it compares with something that is not written in it. */
import type { ASTNode } from "@marcbachmann/cel-js";
import { isNode, partsOf, reads, textsIn, WALKS } from "./condition-nodes.ts";

export type AboutCaller = {
  /** Every text in it, as it is meant: without quotes and escapes. */
  readonly texts: readonly string[];
  /**
   * The members of `principal` that are compared with what only the call knows, or are made into something else before they are compared;
   * `*`: any of them.
   */
  readonly open: ReadonlySet<string>;
  /** The members of `principal` that it reads; `*`: any of them. */
  readonly members: ReadonlySet<string>;
};

/** Undefined: it does not look at the caller. */
export function aboutCaller(root: ASTNode): AboutCaller | undefined {
  const members = readMembers(root);
  if (members.size === 0) return undefined;
  const open = new Set<string>();
  collectOpen(root, NOTHING_WALKED, open);
  return { texts: textsIn(root), open, members };
}

const ANY_MEMBER = "*";
/** What joins the answers of comparisons, and compares nothing itself. */
const JOINING: ReadonlySet<string> = new Set(["&&", "||", "!_", "?:"]);

/** Comparisons that a text can be named for. An order has no end to what comes before or after it. */
const NAMING: ReadonlySet<string> = new Set(["==", "!=", "in", "call", "rcall"]);
/** What they make of a name is still found in it, where case and blanks make no difference. */
const RESPELLING: ReadonlySet<unknown> = new Set(["lowerAscii", "upperAscii", "trim"]);

/** What of the caller the list has that is walked over here, so that its elements are the caller's, too, and what these are called. */
type Walked = { readonly members: ReadonlySet<string>; readonly variables: ReadonlySet<unknown> };
const NOTHING_WALKED: Walked = { members: new Set(), variables: new Set() };

function collectOpen(value: unknown, walked: Walked, open: Set<string>): void {
  if (Array.isArray(value)) {
    for (const one of value) collectOpen(one, walked, open);
    return;
  }
  if (!isNode(value)) return;
  const { op, args } = value;
  if (JOINING.has(op)) return collectOpen(args, walked, open);
  const [called, receiver, given] = op === "rcall" ? partsOf(args) : [];
  if (WALKS.has(called)) {
    const [variable, ...body] = partsOf(given);
    const members = readMembers(receiver);
    if (isMadeOfCaller(receiver, walked)) for (const member of members) open.add(member);
    const isOfCaller = members.size > 0 && isNode(variable);
    const variables = isOfCaller ? new Set([...walked.variables, variable.args]) : walked.variables;
    return collectOpen(body, { members: new Set([...walked.members, ...members]), variables }, open);
  }
  const operands = operandsOf(op, args);
  // Where one side is written out, it is known whom it means.
  const isKnown = NAMING.has(op) && operands.some(isWritten);
  if (isKnown && !operands.some((operand) => isMadeOfCaller(operand, walked))) return;
  for (const member of [...walked.members, ...readMembers(value)]) open.add(member);
}

/** Whether what it says of the caller is no name as it is, but a part of one, or put together. */
function isMadeOfCaller(value: unknown, walked: Walked): boolean {
  return !isTakenAsItIs(value) && readsCaller(value, walked);
}

function isTakenAsItIs(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isTakenAsItIs);
  if (!isNode(value)) return true;
  const { op, args } = value;
  if (op === "id" || op === "value") return true;
  if (op === "." || op === "[]" || op === "list") return isTakenAsItIs(args);
  const [called, receiver] = partsOf(args);
  return op === "rcall" && RESPELLING.has(called) && isTakenAsItIs(receiver);
}

function readsCaller(value: unknown, { variables }: Walked): boolean {
  return reads(value, (variable) => variable === "principal" || variables.has(variable));
}

function operandsOf(op: string, args: unknown): readonly unknown[] {
  const parts = Array.isArray(args) ? partsOf(args) : [args];
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
  const [of, key] = partsOf(args);
  if (!isNode(of) || of.op !== "id" || of.args !== "principal") return readMembers(args);
  const name: unknown = isNode(key) && key.op === "value" ? key.args : key;
  return new Set([typeof name === "string" ? name : ANY_MEMBER]);
}
