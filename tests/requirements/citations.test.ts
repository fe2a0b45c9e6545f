import { describe, expect, test } from "vitest";
import { findCitations } from "./citations.ts";

const ids = (source: string) => findCitations("a.test.ts", source).map((citation) => citation.ids);

describe("findCitations", () => {
  test("reads ids in brackets from names of tests, whatever the quotes", () => {
    expect(ids('test("refuses a batch [AP-155] [MX-016]", () => {});')).toEqual([["AP-155", "MX-016"]]);
    expect(ids("it(`lists tools [MG-001]`, async () => {});")).toEqual([["MG-001"]]);
    expect(ids('test(\n  "lists tools [MG-001]",\n  () => {},\n);')).toEqual([["MG-001"]]);
  });

  test("reads the name after a table", () => {
    expect(ids('test.each([["a [AP-001]", 1]])("maps %s [AX-002]", () => {});')).toEqual([["AX-002"]]);
  });

  test("ignores skipped tests, comments, strings and other functions", () => {
    expect(ids('test.skip("a [AP-001]", () => {});')).toEqual([]);
    expect(ids('// test("a [AP-001]", () => {});')).toEqual([]);
    expect(ids("const text = 'test(\"a [AP-001]\")';")).toEqual([]);
    expect(ids('contest("a [AP-001]"); /x/.test("b [AP-002]");')).toEqual([]);
  });

  test("marks tests that are expected to fail", () => {
    expect(findCitations("a.test.ts", 'test.fails("a [AP-001]", () => {});')[0]?.fails).toBe(true);
  });

  test("reports ids that share brackets or have none", () => {
    const [citation] = findCitations("a.test.ts", 'test("a AP-001 [AP-002, AP-003]", () => {});');
    expect(citation?.stray).toEqual(["AP-001", "AP-002", "AP-003"]);
  });
});
