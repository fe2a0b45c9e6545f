/**
 * Functions over text that are asked for a path. Only `glob` sees that `/srv/../etc` is not in `/srv/`: others compare text as it is
 * written, and whoever writes them with a slash believes in a rule that is not there.
 */
import type { ASTNode } from "@marcbachmann/cel-js";
import { isNode, partsOf, reads, WALKS } from "./condition-nodes.ts";

const JUDGED = "glob";
/** They compare text as it is written, whoever has said it. */
const ENDS: ReadonlySet<unknown> = new Set(["startsWith", "endsWith"]);
/** What is left of a text says nothing of where the whole of it leads. */
const CUTS: ReadonlySet<unknown> = new Set(["substring", "split"]);
const ORDERS: ReadonlySet<string> = new Set(["<", "<=", ">", ">="]);
const COMPARES: ReadonlySet<string> = new Set(["==", "!=", "in", ...ORDERS]);

/** The name of a function or sign that is given a slash and what a caller sent; undefined: there is none. */
export function blindToPlaces(root: ASTNode): string | undefined {
  return find(root, new Set(["args"]));
}

/** `sent`: what texts of the caller's are called here. */
function find(value: unknown, sent: ReadonlySet<unknown>): string | undefined {
  if (Array.isArray(value)) return firstOf(value, (one) => find(one, sent));
  if (!isNode(value)) return undefined;
  const { op, args } = value;
  const parts = partsOf(args);
  const [called, receiver, given] = parts;
  if (op === "rcall" && WALKS.has(called)) {
    const [variable, ...body] = partsOf(given);
    const isOfCaller = isNode(variable) && isSent(receiver, sent);
    return find(receiver, sent) ?? find(body, isOfCaller ? new Set([...sent, variable.args]) : sent);
  }
  if ((op === "call" || op === "rcall") && typeof called === "string" && called !== JUDGED) {
    const texts = parts.slice(1);
    if (ENDS.has(called) && hasSlash(given)) return called;
    if (hasSlash(texts) && isSent(texts, sent)) return called;
  }
  if (COMPARES.has(op) && hasSlash(parts) && isSent(parts, sent)) {
    if (ORDERS.has(op)) return op;
    const cut = firstOf(parts, (part) => cutIn(part, sent));
    if (cut !== undefined) return cut;
  }
  return find(args, sent);
}

function cutIn(value: unknown, sent: ReadonlySet<unknown>): string | undefined {
  if (Array.isArray(value)) return firstOf(value, (one) => cutIn(one, sent));
  if (!isNode(value)) return undefined;
  const [called] = partsOf(value.args);
  if (value.op === "rcall" && typeof called === "string" && CUTS.has(called) && isSent(value.args, sent)) return called;
  return cutIn(value.args, sent);
}

function firstOf(values: readonly unknown[], find: (one: unknown) => string | undefined): string | undefined {
  for (const one of values) {
    const found = find(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether a text with a slash is written out in it, but for patterns that are judged. */
function hasSlash(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasSlash);
  if (!isNode(value)) return false;
  const { op, args } = value;
  if (op === "value")
    return /[/\\]/.test(args instanceof Uint8Array ? Buffer.from(args).toString("latin1") : String(args));
  const isJudged = op === "call" && partsOf(args)[0] === JUDGED;
  return !isJudged && hasSlash(args);
}

function isSent(value: unknown, sent: ReadonlySet<unknown>): boolean {
  return reads(value, (variable) => sent.has(variable));
}
