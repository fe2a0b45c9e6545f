import { expect, test } from "vitest";
import { textsAt } from "./paths.ts";
import { JsonFault } from "./scanner.ts";
import { textOf } from "./text.ts";

test.each([
  ['{"a":1,"b":{"c":"x","d":{"e":true}}}', ["1", '{"c":"x","d":{"e":true}}', '"x"', "true", undefined]],
  ['{"b":{"d":{"e":[1, 2]},"c":null}}', [undefined, '{"d":{"e":[1, 2]},"c":null}', "null", "[1, 2]", undefined]],
  ['{"b":"c","x":{"a":1,"b":{"c":2}}}', [undefined, '"c"', undefined, undefined, undefined]],
  ['{"\\u0061":1,"é":2}', ["1", undefined, undefined, undefined, "2"]],
  ["[1]", [undefined, undefined, undefined, undefined, undefined]],
])("of %s the values at all paths are found", (json, expected) => {
  expect(textsAt(textOf(json), [["a"], ["b"], ["b", "c"], ["b", "d", "e"], ["é"]])).toEqual(expected);
});

test.each(['{"b":{"c":1},"b":{"c":2}}', '{"b":{"c":1,"\\u0063":2}}', '{"b":{},"b":{}}'])(
  "%s says two things, which is refused",
  (json) => expect(() => textsAt(json, [["b", "c"]])).toThrow(JsonFault),
);

test("keys that are on no path may be there twice", () => {
  expect(textsAt('{"x":1,"x":2,"b":{"y":1,"y":2,"c":3}}', [["b", "c"]])).toEqual(["3"]);
});

test("a text is walked once, however many paths there are and however deep they lead", () => {
  const depth = 100;
  const path = Array.from({ length: depth }, () => "a");
  const paths = Array.from({ length: 2_000 }, (_, at) => [...path, `b${at}`]);
  const json = `${'{"a":'.repeat(depth)}{"big":[${"0,".repeat(500_000)}0],"b7":1}${"}".repeat(depth)}`;
  expect(textsAt(json, paths).filter((text) => text !== undefined)).toEqual(["1"]);
});
