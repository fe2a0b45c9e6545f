import { describe, expect, test } from "vitest";
import { canonicalJson, digestJson } from "./canonical.ts";
import { jsonText, textOf } from "./text.ts";

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
});
