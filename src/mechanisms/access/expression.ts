/**
 * Conditions of rules, in CEL. The package is loaded with the first rule that has one: most gateways have none. An expression is
 * compiled once, and what it can cost is bounded then: it has at most so many parts, each linear in the size of the arguments.
 */
import { createRequire } from "node:module";
import type { ASTNode, Environment } from "@marcbachmann/cel-js";
import { aboutCaller } from "./about-caller.ts";
import { argumentNames, fieldNames } from "./argument-names.ts";
import { WALKS } from "./condition-nodes.ts";
import { globs, isPlacePattern } from "./plain-path.ts";
import type { Condition } from "./policy.ts";
import { blindToPlaces } from "./texts-about-places.ts";

const MAX_TEXT = 2_000;
const LIMITS = { maxAstNodes: 256, maxDepth: 32, maxListElements: 64, maxMapEntries: 64, maxCallArguments: 8 };

/** What could take more than linear time or space, and what to write instead. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ["matches", "regular expressions can take very long; use glob(text, pattern), startsWith, endsWith or contains"],
  ["map", "use all, exists or exists_one"],
  ["filter", "use all, exists or exists_one"],
  ["bind", "write the expression out"],
]);

/** What is wrong with an expression, in a sentence. */
export class ExpressionFault extends Error {
  override readonly name = "ExpressionFault";
}

/** Throws ExpressionFault. */
export function compileCondition(text: string): Condition {
  if (text.length > MAX_TEXT) throw new ExpressionFault(`expected at most ${MAX_TEXT} characters`);
  return compile(makeEnvironment(), text);
}

// At once and not as a promise, because whoever reads a config wants to say what is wrong with it.
const load = createRequire(import.meta.filename);

function makeEnvironment(): Environment {
  const cel: typeof import("@marcbachmann/cel-js") = load("@marcbachmann/cel-js");
  return new cel.Environment({ limits: LIMITS, homogeneousAggregateLiterals: false })
    .registerVariable("args", "map")
    .registerVariable("principal", "map")
    .registerVariable("tool", "string")
    .registerVariable("server", "string")
    .registerVariable("protocol", "string")
    .registerFunction("glob(string, string): bool", globs);
}

function compile(environment: Environment, text: string): Condition {
  const parsed = parse(environment, text);
  checkCost(parsed.ast, false);
  const blind = blindToPlaces(parsed.ast);
  if (blind !== undefined) {
    throw new ExpressionFault(
      `${blind} does not see that a path leads elsewhere; use glob(text, pattern), which refuses what can be read in two ways`,
    );
  }
  const checked = parsed.check();
  if (!checked.valid) throw new ExpressionFault(firstLine(checked.error));
  if (checked.type !== "bool" && checked.type !== "dyn") {
    throw new ExpressionFault(`expected an expression that is true or false, found one of type ${checked.type}`);
  }
  return {
    text,
    names: argumentNames(parsed.ast),
    fields: fieldNames(parsed.ast),
    caller: aboutCaller(parsed.ast),
    places: placesIn(parsed.ast),
    holds(facts) {
      const answer: unknown = parsed(facts);
      if (typeof answer !== "boolean") throw new ExpressionFault("it is neither true nor false");
      return answer;
    },
  };
}

function parse(environment: Environment, text: string): ReturnType<Environment["parse"]> {
  try {
    return environment.parse(text);
  } catch (error) {
    throw new ExpressionFault(firstLine(error));
  }
}

/** The others draw the place. */
function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n", 1)[0] ?? "";
}

/**
 * Inside a walk over a list nothing is walked that grows with the arguments: neither another list, nor `args`.
 */
function checkCost(node: ASTNode, isWalking: boolean): void {
  const { op, args } = node as { op: string; args: unknown };
  if (op === "id" && isWalking && args === "args") {
    throw new ExpressionFault("args cannot be used inside all, exists or exists_one, only the element");
  }
  const called = calledName(op, args);
  const instead = called === undefined ? undefined : REFUSED.get(called);
  if (instead !== undefined) throw new ExpressionFault(`${called} is not available: ${instead}`);
  const isWalk = called !== undefined && WALKS.has(called);
  if (isWalk && isWalking) throw new ExpressionFault(`${called} cannot stand inside another walk over a list`);
  const [, receiver, given] = isWalk && Array.isArray(args) ? args : [];
  if (!isWalk) return each(args, (inner) => checkCost(inner, isWalking));
  each(receiver, (inner) => checkCost(inner, isWalking));
  each(given, (inner) => checkCost(inner, true));
}

function placesIn(node: ASTNode): readonly string[] {
  const { op, args } = node as { op: string; args: unknown };
  const places: string[] = [];
  if (calledName(op, args) === "glob") {
    const [, given] = args as readonly [string, readonly ASTNode[]];
    const { op: kind, args: pattern } = (given[1] ?? {}) as { op?: string; args?: unknown };
    if (kind === "value" && typeof pattern === "string" && isPlacePattern(pattern)) places.push(pattern);
  }
  each(args, (inner) => places.push(...placesIn(inner)));
  return places;
}

/** Calls are `["name", …]`, with or without a receiver. */
function calledName(op: string, args: unknown): string | undefined {
  if (op !== "call" && op !== "rcall") return undefined;
  const [name] = Array.isArray(args) ? args : [];
  return typeof name === "string" ? name : undefined;
}

function each(value: unknown, visit: (node: ASTNode) => void): void {
  if (Array.isArray(value)) for (const one of value) each(one, visit);
  else if (typeof value === "object" && value !== null && "op" in value) visit(value as ASTNode);
}
