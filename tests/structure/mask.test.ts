import { describe, expect, test } from "vitest";
import { closeOf, mask } from "./mask.ts";

describe("mask", () => {
  test("keeps every position", () => {
    const source = 'const a = "x{y"; // {\n/* } */ const b = `q${{ a: "}" }}r`;';
    expect(mask(source)).toHaveLength(source.length);
    expect(mask(source).split("\n")).toHaveLength(2);
  });

  test.each([
    ["a string with a bracket", "f(\"{\", '\\'}')", "f(\" \", '   ')"],
    ["a line comment", "a; // {b\nc", "a;      \nc"],
    ["a regular expression with a quote and a class", 'x = /["/]{2}/g;', "x = 0        g;"],
    ["a division", "a = b / c / d;", "a = b / c / d;"],
    ["a regular expression after return", "return /}/;", "return 0  ;"],
    ["nested templates", "`a${b(`}${c}`)}d`", "` ${b(` ${c}`)} `"],
  ])("blanks %s", (_, source, masked) => {
    expect(mask(source)).toBe(masked);
  });
});

describe("closeOf", () => {
  test("finds the matching bracket across nested ones", () => {
    expect(closeOf("f({ a: [1] }) + g()", 1)).toBe(13);
  });
});
