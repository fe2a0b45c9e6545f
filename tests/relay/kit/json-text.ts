/**
 * Arbitrary JSON as text: key order, white space, number spellings and escapes are part of what is generated, because
 * they are part of what must come out again.
 */
import fc from "fast-check";

export const space = fc.oneof(
  { weight: 8, arbitrary: fc.constant("") },
  { weight: 2, arbitrary: fc.constantFrom(" ", "\n", "\t", "\r\n", "\r", "  \n  ") },
);

const numberText = fc.oneof(
  fc.constantFrom(
    "0",
    "-0",
    "1.0",
    "1e3",
    "1E+3",
    "-0.0",
    "1e-7",
    "9007199254740993",
    "123456789012345678901234567890",
    "0.1000000000000000055",
    "1e400",
  ),
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value.toExponential()),
);

const piece = fc.oneof(
  { weight: 5, arbitrary: fc.string({ unit: "grapheme", maxLength: 8 }).map(plain) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "\\n",
      "\\r",
      "\\/",
      "/",
      '\\"',
      "\\\\",
      "\\u0000",
      "\\u00e9",
      "\\u2028",
      "\u2028",
      "\u007f",
      "é",
      "😀",
      "\\ud83d\\ude00",
      "\\ud800",
      "data: x",
      "progressToken",
      '\\"_meta\\"',
    ),
  },
);

/** Characters that need no escape; the ones that do come as pieces of their own. */
function plain(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

export const stringText = fc.array(piece, { maxLength: 4 }).map((pieces) => `"${pieces.join("")}"`);

const scalar = fc.oneof(numberText, stringText, fc.constantFrom("true", "false", "null"));

/** Any value. Objects may hold escaped and repeated keys: nothing reads this deep. */
export const valueText: fc.Arbitrary<string> = fc.letrec<{ value: string; object: string; array: string }>((tie) => ({
  value: fc.oneof({ maxDepth: 3, depthSize: "small" }, scalar, tie("object"), tie("array")),
  object: fc
    .array(fc.tuple(stringText, space, tie("value"), space), { maxLength: 4 })
    .map((members) => `{${members.map(([key, a, value, b]) => `${b}${key}${a}:${b}${value}${a}`).join(",")}}`),
  array: fc
    .array(fc.tuple(space, tie("value")), { maxLength: 4 })
    .map((items) => `[${items.map((item) => item.join("")).join(",")}]`),
})).value;

/** Mostly small; now and then up to 1 MB, in one string, in many numbers, or deep. */
export const anySize: fc.Arbitrary<string> = fc.oneof(
  { weight: 60, arbitrary: valueText },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 1_000_000 }).map((size) => `"${"x".repeat(size)}"`) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 100_000 }).map((count) => `[${"1.0, ".repeat(count)}1e2]`) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 100 }).map((depth) => "[".repeat(depth) + "]".repeat(depth)) },
);

/** Members in any order, with white space wherever it may stand. Every text before a colon is a key without escapes. */
export function objectText(members: readonly (readonly [key: string, value: string])[]): fc.Arbitrary<string> {
  return fc
    .tuple(
      fc.shuffledSubarray([...members], { minLength: members.length }),
      fc.array(space, { minLength: 8, maxLength: 8 }),
    )
    .map(([shuffled, spaces]) => {
      const at = (index: number) => spaces[index % spaces.length] as string;
      const texts = shuffled.map(([key, value], index) => {
        return `${at(index)}${JSON.stringify(key)}${at(index + 1)}:${at(index + 2)}${value}${at(index + 3)}`;
      });
      return `{${texts.join(",")}}`;
    });
}

const HARMLESS_KEY = fc
  .oneof(
    fc.constantFrom(
      "__proto__",
      "constructor",
      "toString",
      "x-é",
      "Name",
      "METHOD",
      "ID",
      "",
      " name",
      "data",
      "ünïcode",
    ),
    fc.string({ maxLength: 6 }).map((text) => text.replace(/["\\\p{Cc}]/gu, "")),
  )
  .filter((key) => !RESERVED.has(key));

/** Keys that mean something to MCP: what they hold is generated where they belong. */
const RESERVED: ReadonlySet<string> = new Set([
  "jsonrpc",
  "id",
  "method",
  "params",
  "result",
  "error",
  "name",
  "uri",
  "arguments",
  "_meta",
  "ref",
  "task",
  "taskId",
  "progressToken",
  "requestId",
  "reason",
  "level",
  "cursor",
]);

/** Fields nobody has heard of, under keys without escapes and without repetition. */
export const extras: fc.Arbitrary<[string, string][]> = fc.uniqueArray(fc.tuple(HARMLESS_KEY, valueText), {
  maxLength: 3,
  selector: ([key]) => key,
});
