import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { canonicalJson, digestJson, digestJsonOrText } from "./canonical.ts";
import { MAX_ITEMS, MAX_MEMBERS } from "./members.ts";
import { jsonText, textOf } from "./text.ts";

const list = (count: number, item: (n: number) => string) => Array.from({ length: count }, (_, n) => item(n)).join(",");

const MANY: readonly (readonly [string, (space?: string) => string])[] = [
  ["too many keys", (space = "") => `{${space}${list(MAX_MEMBERS + 1, (n) => `"${n}":0`)}}`],
  ["too many objects with a key", (space = "") => `[${space}${list(MAX_MEMBERS + 1, () => '{"a":0}')}]`],
  ["too many items", (space = "") => `[${space}${list(MAX_ITEMS + 1, () => "0")}]`],
  ["too many empty objects", (space = "") => `{"a":[${space}${list(MAX_ITEMS + 1, () => "{}")}]}`],
];

describe("canonicalJson", () => {
  test("sorts keys by their UTF-16 code units, at every depth", () => {
    expect(canonicalJson(textOf('{"b":{"z":1,"a":2},"a":[{"y":1,"x":2}],"\u20ac":1,"\\r":2,"\ud83d\ude00":3}'))).toBe(
      '{"\\r":2,"a":[{"x":2,"y":1}],"b":{"a":2,"z":1},"\u20ac":1,"\ud83d\ude00":3}',
    );
  });

  test("writes each string in one way, however it was escaped", () => {
    expect(canonicalJson('{"\\u0061":"\\u0041\\/\\u000a"}')).toBe('{"a":"A/\\n"}');
    expect(canonicalJson(textOf('"\u00e4"'))).toBe(canonicalJson('"\\u00e4"'));
  });

  test("leaves numbers as they are spelled", () => {
    expect(canonicalJson("[1,1.0,1e0,-0,12345678901234567890]")).toBe("[1,1.0,1e0,-0,12345678901234567890]");
  });

  test("drops white space and nothing else", () => {
    expect(canonicalJson(' { "a" : [ true , null , { } , [ ] ] } ')).toBe('{"a":[true,null,{},[]]}');
  });

  test("keeps both of two equal keys, in their order", () => {
    expect(canonicalJson('{"b":1,"a":1,"a":2}')).toBe('{"a":1,"a":2,"b":1}');
    expect(canonicalJson('{"a":1,"a":2}')).not.toBe(canonicalJson('{"a":2,"a":1}'));
  });

  test.each(["{", "[1,", '{"a"}', '{"a":1,}', "[1 2]", "1 2", "", "{1:2}"])("refuses %s", (text) => {
    expect(() => canonicalJson(text)).toThrow();
  });

  test("refuses more keys than its reader has time for, however they are spread", () => {
    for (const text of ['{"a":1,"b":2,"c":3}', '{"a":{"b":{"c":1}}}', '[{"a":1},{"a":1},{"a":1}]']) {
      expect(canonicalJson(text, 3)).toBe(text);
      expect(() => canonicalJson(text, 2)).toThrow(expect.objectContaining({ reason: "members" }));
    }
  });

  test("refuses more items of lists than its reader has time for, however they are spread", () => {
    for (const text of ["[1,2,3]", "[[[1]]]", '{"a":[1,2],"b":[[]]}']) {
      expect(canonicalJson(text, 2, 3)).toBe(text);
      expect(() => canonicalJson(text, 2, 2)).toThrow(expect.objectContaining({ reason: "members" }));
    }
  });

  test("refuses what is nested too deep", () => {
    expect(() => canonicalJson("[".repeat(200) + "]".repeat(200))).toThrow("nested deeper");
  });
});

describe("digestJson", () => {
  test("is the same for another key order and differs for another number spelling", () => {
    const one = digestJson(jsonText({ a: 1, b: { c: "x", d: [1] } }));
    expect(digestJson(jsonText({ b: { d: [1], c: "x" }, a: 1 }))).toBe(one);
    expect(digestJson('{"a":1.0,"b":{"c":"x","d":[1]}}')).not.toBe(one);
  });

  test("is SHA-256", () => {
    expect(digestJson("{}")).toBe("RBNvo1WzZ4oRRq0W9-hknpT7T8If536DEMBg9hyq_4o");
  });

  test.each(MANY)("is not made of %s", (_what, write) => {
    expect(() => digestJson(write())).toThrow(expect.objectContaining({ reason: "members" }));
  });
});

describe("digestJsonOrText", () => {
  test("is the same for every spelling", () => {
    expect(digestJsonOrText('{ "b": 1, "\\u0061": 2 }')).toBe(digestJson('{"a":2,"b":1}'));
  });

  test.each(MANY)("is of the text itself where there are %s", (_what, write) => {
    const digest = createHash("sha256").update(write()).digest("base64url");
    expect(digestJsonOrText(write())).toBe(digest);
    expect(digestJsonOrText(write(" "))).not.toBe(digest);
  });

  test("is of the text itself where that is no JSON", () => {
    expect(digestJsonOrText("{")).toBe(createHash("sha256").update("{").digest("base64url"));
  });
});
