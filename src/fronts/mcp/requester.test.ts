import { expect, test } from "vitest";
import { requesterIn, withoutRequester } from "./requester.ts";

test.each([
  [undefined, undefined],
  ['{"progressToken":1}', undefined],
  ['{"dev.isthmus/requester":"x"}', "x"],
  ['{"dev.isthmus\\u002frequester":"x"}', "x"],
])("in %s it is %s", (meta, requester) => {
  expect(requesterIn(meta)).toBe(requester);
});

test.each(['""', "1", "null", '{"a":1}', JSON.stringify("x".repeat(129))])("%s is none", (literal) => {
  expect(() => requesterIn(`{"dev.isthmus/requester":${literal}}`)).toThrow(/must be a string/);
});

test("it goes no further, and what else there is stays byte for byte", () => {
  expect(withoutRequester('{"a": 1.0,"dev.isthmus/requester":"x"}')).toBe('{"a": 1.0}');
  expect(withoutRequester('{"dev.isthmus/requester":"x"}')).toBeUndefined();
  expect(withoutRequester('{ "a":1 }')).toBe('{ "a":1 }');
});
