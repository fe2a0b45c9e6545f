import { JsonFault, payload, stringOf } from "../../contract/index.ts";

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

/** Refuses repeated keys. */
function readOnce(text: string): unknown {
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
