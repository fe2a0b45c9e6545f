import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { matchesPattern, patternCovers, patternReaches } from "./name-pattern.ts";
import { joinName, markName, underscoreName } from "./names.ts";

const hash = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 8);

describe("underscoreName", () => {
  test("shows the dot as two underscores", () => {
    expect(underscoreName("files", "files.read_file")).toBe("files__read_file");
  });

  test("cuts what is over 64 characters to the first 55 and eight digits that stand for the dotted name", () => {
    const dotted = joinName("files", "r".repeat(58));
    expect(underscoreName("files", dotted)).toBe(`files__${"r".repeat(48)}_${hash(dotted)}`);
    expect(underscoreName("files", joinName("files", "r".repeat(57)))).toBe(`files__${"r".repeat(57)}`);
  });

  test.each(["a__b", "a_"])(
    "marks every name under %s, which could be read as one under another segment",
    (segment) => {
      const dotted = `${segment}.c`;
      expect(underscoreName(segment, dotted)).toBe(`${segment}__c_${hash(dotted)}`);
    },
  );

  test("leaves no character that model APIs refuse", () => {
    expect(underscoreName("", "a b.ç/d")).toBe("a_b____d");
  });
});

describe("markName", () => {
  test("gives other names when asked again", () => {
    expect(markName("a.b", "dotted")).toBe(`a.b_${hash("a.b")}`);
    expect(markName("a.b", "underscore", 1)).toBe(`a__b_${hash("a.b 1")}`);
  });
});

describe("matchesPattern", () => {
  test.each([
    ["files.*", "files.read", true],
    ["files.*", "files.", true],
    ["files.*", "files2.read", false],
    ["*.read_*", "files.read_file", true],
    ["*.read_*", "files.write_read", false],
    ["files.read", "files.read", true],
    ["files.read", "files.read_file", false],
    ["*", "anything.at_all", true],
    ["a*a", "a", false],
    ["a*a", "aa", true],
    ["*a*b*", "xxaxxbxx", true],
    ["*b*a*", "xxaxxbxx", false],
    ["f.les.*", "files.x", false],
  ])("%s against %s is %s", (pattern, name, expected) => {
    expect(matchesPattern(pattern, name)).toBe(expected);
  });

  test("agrees with a regular expression", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "."), maxLength: 8 });
    const pattern = fc.string({ unit: fc.constantFrom("a", "b", ".", "*", "*"), maxLength: 8 });
    fc.assert(
      fc.property(pattern, text, (glob, name) => {
        const expected = new RegExp(`^${glob.replaceAll(".", "\\.").replaceAll("*", ".*")}$`).test(name);
        expect(matchesPattern(glob, name)).toBe(expected);
      }),
    );
  });

  test("takes linear time on a pattern made to be slow", () => {
    expect(matchesPattern(`${"*a".repeat(50_000)}b`, "a".repeat(100_000))).toBe(false);
  });
});

describe("a pattern and a server", () => {
  test.each([
    ["files.*", "files", true, true],
    ["files.read", "files", true, false],
    ["fi*.read", "files", true, false],
    ["fi*", "files", true, true],
    ["*", "files", true, true],
    ["*", "", true, true],
    ["*.read_*", "files", true, false],
    ["other.*", "files", false, false],
    ["read", "files", false, false],
    ["read", "", true, false],
    ["files.*", "", false, false],
  ])("%s reaches %j: %s, covers it: %s", (pattern, segment, reaches, covers) => {
    expect([patternReaches(pattern, segment), patternCovers(pattern, segment)]).toEqual([reaches, covers]);
  });
});
