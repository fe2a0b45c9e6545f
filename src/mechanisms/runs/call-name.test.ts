import { expect, test } from "vitest";
import { type Call, MAX_ITEMS, MAX_MEMBERS, payload } from "../../contract/index.ts";
import { callDigest } from "./call-name.ts";

const digestOf = (args: string) =>
  callDigest({ method: "tools/call", input: payload(`{"name":"add","arguments":${args}}`) } as Call);
const many = (count: number, item: (n: number) => string) => Array.from({ length: count }, (_, n) => item(n)).join(",");

test("two calls are the same however they are spelled", () => {
  expect(digestOf('{ "b": [1], "\\u0061": 2 }')).toBe(digestOf('{"a":2,"b":[1]}'));
  expect(digestOf('{"a":2,"b":[1]}')).not.toBe(digestOf('{"a":2,"b":[2]}'));
});

test.each([
  ["keys", (space: string) => `{${space}${many(MAX_MEMBERS + 1, (n) => `"k${n}":0`)}}`],
  ["items", (space: string) => `{"a":[${space}${many(MAX_ITEMS + 1, () => "{}")}]}`],
])("two calls with more %s than anybody sorts are the same where their texts are", (_what, write) => {
  expect(digestOf(write(""))).toBe(digestOf(write("")));
  expect(digestOf(write(""))).not.toBe(digestOf(write(" ")));
});
