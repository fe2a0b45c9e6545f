/** Small damage to bytes, as data, so that a failing case can be printed and played again. */
import fc from "fast-check";

export type Mutation =
  | { readonly kind: "flip"; readonly at: number; readonly bit: number }
  | { readonly kind: "cut"; readonly at: number; readonly length: number }
  | { readonly kind: "end"; readonly at: number }
  | { readonly kind: "copy"; readonly from: number; readonly at: number; readonly length: number }
  | { readonly kind: "insert"; readonly at: number; readonly text: string };

/** What parsers stumble over. */
const TOKENS = [
  "{",
  "}",
  "[",
  "]",
  '"',
  ":",
  ",",
  "\\",
  "\\u0000",
  "\\ud800",
  "null",
  "true",
  "-",
  "1e999",
  "-0",
  "0.1e-400",
  "9".repeat(400),
  '"id":1,',
  '"method":"x",',
  '"jsonrpc":"2.0",',
  '"params":{},',
  '"__proto__":{},',
  '"_meta":{"progressToken":{}},',
  "[".repeat(140),
  '{"a":'.repeat(140),
  "\r\n",
  "\n\n",
  "\r",
  "\0",
  "\xff",
  "\xc0\x80",
  "\xef\xbb\xbf",
  "\xe2\x80\xa8",
  "\r\n\r\n",
  "0\r\n\r\n",
  "ffffffff\r\n",
  "Content-Length: 5\r\n",
  "Transfer-Encoding: chunked\r\n",
  "data: ",
  "event: x\n",
  "id: \0\n",
  "retry: 0\n",
  ": ",
  "HTTP/1.1 ",
];

const place = fc.integer({ min: 0, max: 999 });
const length = fc.integer({ min: 1, max: 40 });

const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.record({ kind: fc.constant("flip" as const), at: place, bit: fc.integer({ min: 0, max: 7 }) }),
  fc.record({ kind: fc.constant("cut" as const), at: place, length }),
  fc.record({ kind: fc.constant("end" as const), at: place }),
  fc.record({ kind: fc.constant("copy" as const), from: place, at: place, length }),
  fc.record({ kind: fc.constant("insert" as const), at: place, text: fc.constantFrom(...TOKENS) }),
);

export const mutations = fc.array(mutation, { minLength: 1, maxLength: 4 });

/** Places are thousandths of the text. The text has one character per byte. */
export function mutate(text: string, list: readonly Mutation[]): string {
  return list.reduce(applyOne, text);
}

function applyOne(text: string, one: Mutation): string {
  const at = Math.floor((one.at * text.length) / 1000);
  const [before, after] = [text.slice(0, at), text.slice(at)];
  switch (one.kind) {
    case "flip":
      return before + String.fromCharCode((text.charCodeAt(at) || 0) ^ (1 << one.bit)) + after.slice(1);
    case "cut":
      return before + after.slice(one.length);
    case "end":
      return before;
    case "copy": {
      const from = Math.floor((one.from * text.length) / 1000);
      return before + text.slice(from, from + one.length) + after;
    }
    case "insert":
      return before + one.text + after;
  }
}
