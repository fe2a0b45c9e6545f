import { findExport } from "./exports.ts";

const BROKEN_BODY = '{ throw new Error("mutated"); }';
const BROKEN_VALUE = " undefined as never";

/** The source with one export broken: functions and methods throw, constants are undefined. */
export function mutateExport(source: string, name: string): string | undefined {
  const declaration = findExport(source, name);
  if (declaration === undefined || declaration.ranges.length === 0) return undefined;
  const replacement = declaration.kind === "const" ? BROKEN_VALUE : BROKEN_BODY;
  // From the back, so that earlier positions stay right.
  return declaration.ranges.reduceRight(
    (text, { start, end }) => text.slice(0, start) + replacement + text.slice(end),
    source,
  );
}

/** The same rows for the same seed, so that a survivor can be looked at again. */
export function sample<T>(items: readonly T[], count: number, seed: number): T[] {
  const random = mulberry32(seed);
  const pool = [...items];
  const picked: T[] = [];
  while (picked.length < count && pool.length > 0) {
    picked.push(...pool.splice(Math.floor(random() * pool.length), 1));
  }
  return picked;
}

function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
