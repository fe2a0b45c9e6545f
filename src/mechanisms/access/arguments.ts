import { JsonFault, payload, stringOf } from "../../contract/index.ts";
import type { FieldNames } from "./argument-names.ts";
import { hasManyMarks, toForm } from "./one-form.ts";

/** Larger ones are not judged, and what cannot be judged is refused. */
const MAX_BYTES = 256 * 1024;
const INTEGER = /^-?\d+$/;
const MAX_INTEGER = 2n ** 63n - 1n;

/** The arguments cannot be judged: two readers could understand them differently, or they are too large. */
export class ArgumentsFault extends Error {
  override readonly name = "ArgumentsFault";
}

/** As conditions see them: whole numbers exactly as they are written, and no key twice. Throws ArgumentsFault. */
export function readArguments(text: string | undefined): unknown {
  if (text === undefined) return {};
  if (text.length > MAX_BYTES) throw new ArgumentsFault(`arguments over ${MAX_BYTES} bytes cannot be judged by a rule`);
  const value = readOnce(text);
  // Asking for the text of each number takes several times as long, and few have any that is not what it was written as.
  return hasLargeNumber(value) ? JSON.parse(stringOf(text), exactly as Reviver) : value;
}

/**
 * Some readers take `Path` for `path`: where a rule reads one of them, the other must not be there. Where it may read others than those that
 * it names, no two keys of an object may be such twins, and none the twin of a text in it. Throws ArgumentsFault.
 */
export function refuseTwins(args: unknown, { named, others }: FieldNames): void {
  const [byName, byText] = [named, others ?? []].map(byFold);
  const [isNamed, isText] = [new Set(named), new Set(others)];
  walk(args, (keys) => {
    const seen = new Map<string, string>();
    for (const key of keys) {
      const folded = foldKey(key);
      const text = isText.has(key) ? undefined : byText?.get(folded);
      const meant = isNamed.has(key) ? undefined : (byName?.get(folded) ?? text);
      const other = meant ?? (others && seen.get(folded));
      if (other !== undefined)
        throw new ArgumentsFault(`${JSON.stringify(key)} can be taken for ${JSON.stringify(other)}`);
      if (others) seen.set(folded, key);
    }
  });
}

function byFold(names: readonly string[]): ReadonlyMap<string, string> {
  return new Map(names.map((name) => [foldKey(name), name]));
}

function walk(value: unknown, visit: (keys: readonly string[]) => void): void {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) visit(Object.keys(value));
  for (const inner of Object.values(value)) walk(inner, visit);
}

const PLAIN = /^[!-~]*$/;

/** No key that a rule reads is longer. */
const MAX_KEY = 1_024;

/** Case, blanks, what is not seen, and other forms of the same letters make no difference. Throws ArgumentsFault. */
function foldKey(key: string): string {
  if (PLAIN.test(key)) return key.toLowerCase();
  if (key.length > MAX_KEY) throw new ArgumentsFault(`a key of more than ${MAX_KEY} characters cannot be judged`);
  if (hasManyMarks(key)) throw new ArgumentsFault("a key with more than 30 marks at one letter cannot be judged");
  return toForm(key, "NFKC")
    .replace(/[\s\p{Cc}\p{Cf}\p{M}]/gu, "")
    .toUpperCase()
    .toLowerCase();
}

/** Refuses repeated keys. */
export function readOnce(text: string): unknown {
  try {
    return payload(text).value();
  } catch (error) {
    throw error instanceof JsonFault ? new ArgumentsFault(error.message) : error;
  }
}

function hasLargeNumber(value: unknown): boolean {
  if (typeof value === "number") return Math.abs(value) > Number.MAX_SAFE_INTEGER;
  if (typeof value !== "object" || value === null) return false;
  for (const inner of Object.values(value)) if (hasLargeNumber(inner)) return true;
  return false;
}

/** Its third parameter is younger than the types. */
type Reviver = (key: string, value: unknown) => unknown;

function exactly(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  if (typeof value !== "number" || source === undefined) return value;
  if (!INTEGER.test(source)) {
    if (!Number.isFinite(value)) throw new ArgumentsFault("a number in the arguments is too large");
    return value;
  }
  const whole = BigInt(source);
  if (whole > MAX_INTEGER || whole < -MAX_INTEGER) throw new ArgumentsFault("a number in the arguments is too large");
  return whole;
}
