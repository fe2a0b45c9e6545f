import { describe, expect, test } from "vitest";
import { parseChallenge, scopeSet } from "./challenge.ts";

describe("parseChallenge", () => {
  test.each([
    ['Bearer resource_metadata="https://a/b", scope="x y"', { resourceMetadata: "https://a/b", scope: "x y" }],
    ["bearer error=insufficient_scope,scope=x", { error: "insufficient_scope", scope: "x" }],
    ['Basic realm="bearer scope=evil", Bearer scope="good"', { scope: "good" }],
    ['Bearer scope="a \\"b\\" c"', { scope: 'a "b" c' }],
    ['Bearer 9scope=evil, -scope=evil, scope="good"', { scope: "good" }],
    ['Bearer scope="first", scope="second"', { scope: "first" }],
    ['Digest realm="x"', {}],
    ["Bearer", {}],
    ["", {}],
  ])("reads %j", (header, expected) => {
    expect(parseChallenge(header)).toEqual(expected);
  });

  test.each([
    ["one word", "a".repeat(8_000)],
    ["a word and blanks", `${"a".repeat(4_000)}${" ".repeat(4_000)}`],
    ["words and hyphens", "a-".repeat(4_000)],
  ])("looks at each letter of %s once", (_, text) => {
    // Each by itself is short: read from each of its letters, so many would take more than a minute.
    for (let times = 0; times < 300; times++) expect(parseChallenge(`Bearer ${text}${times}`)).toEqual({});
  });

  test("takes no long time for a long one", () => {
    expect(parseChallenge(`Bearer ${'a="'.repeat(200_000)}`)).toEqual({});
  });
});

describe("scopeSet", () => {
  test("is sorted, and holds each once", () => {
    expect(scopeSet("b a", undefined, " a  c ")).toEqual(["a", "b", "c"]);
  });
});
