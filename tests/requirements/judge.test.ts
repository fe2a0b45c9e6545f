import { describe, expect, test } from "vitest";
import { type Citation, findCitations } from "./citations.ts";
import { findProblems } from "./judge.ts";
import { type Row, summarize } from "./rows.ts";

const FILES: Record<string, string> = { "src/a.ts": "export function keep() {}\nexport type Kept = string;\n" };

const row = (changes: Partial<Row>): Row => ({
  id: "AP-001",
  level: "MUST",
  section: "1",
  about: "keeps",
  state: "todo",
  ...changes,
});
const done = row({ state: "done", by: "src/a.ts#keep" });
const cite = (source: string): Citation[] => findCitations("a.test.ts", source);
const problems = (rows: Row[], citations: Citation[]) =>
  findProblems([{ label: "ASP", rows }], citations, (path) => FILES[path]);

describe("findProblems", () => {
  test("accepts a done row with a test and a source", () => {
    expect(problems([done], cite('test("keeps [AP-001]", run);'))).toEqual([]);
  });

  test("refuses a done row that no test cites", () => {
    expect(problems([done], [])).toEqual(["AP-001 is done, but no test cites it"]);
    expect(problems([done], cite('test.fails("keeps [AP-001]", run);'))).toEqual([
      "AP-001 is done, but no test cites it",
    ]);
  });

  test.each([
    [undefined, "not of the form"],
    ["src/a.ts", "not of the form"],
    ["src/b.ts#keep", "does not exist"],
    ["src/a.ts#lose", "declares no such"],
    ["src/a.ts#Kept", "declares no such"],
  ])("refuses a done row by %s", (by, reason) => {
    const { by: _, ...rest } = done;
    const found = problems([by === undefined ? rest : { ...rest, by }], cite('test("keeps [AP-001]", run);'));
    expect(found).toEqual([expect.stringContaining(reason)]);
  });

  test("refuses a citation of an id that does not exist or is n/a", () => {
    const rows = [row({ state: "n/a", reason: "no fax" })];
    const found = problems(rows, cite('test("keeps [AP-001] [AP-999]", run);'));
    expect(found.map((line) => line.replace(/^.*cites /, ""))).toEqual([
      "AP-001, which is n/a",
      "AP-999, which does not exist",
    ]);
  });

  test("refuses n/a without a reason", () => {
    expect(problems([row({ state: "n/a" })], [])).toEqual(["AP-001 is n/a without a reason"]);
  });

  test("refuses a test that cites more than five ids", () => {
    const rows = [1, 2, 3, 4, 5, 6].map((n) => row({ id: `AP-00${n}` }));
    const name = rows.map(({ id }) => `[${id}]`).join(" ");
    expect(problems(rows, cite(`test("all ${name}", run);`))).toEqual([expect.stringContaining("cites 6 ids")]);
    expect(problems(rows, cite(`test("all ${name.replace(" [AP-006]", "")}", run);`))).toEqual([]);
  });

  test("refuses a known failure that passes or that nothing runs", () => {
    const known = row({ knownFailure: true });
    expect(problems([known], cite('test.fails("keeps [AP-001]", run);'))).toEqual([]);
    expect(problems([known], cite('test("keeps [AP-001]", run);'))).toEqual([
      expect.stringContaining("without test.fails"),
    ]);
    expect(problems([known], [])).toEqual([expect.stringContaining("no test.fails cites it")]);
  });

  test("refuses an id that is listed twice and an id outside brackets", () => {
    expect(problems([row({}), row({})], [])).toEqual(["AP-001 is listed twice"]);
    expect(problems([row({})], cite('test("keeps AP-001", run);'))).toEqual([
      expect.stringContaining("write [AP-001]"),
    ]);
  });
});

describe("summarize", () => {
  test("counts every state on one line", () => {
    const rows = [done, row({ id: "AP-002" }), row({ id: "AP-003", state: "n/a", reason: "no fax" })];
    expect(summarize({ label: "ASP", rows })).toBe("ASP 1 done, 1 n/a, 1 todo of 3");
  });
});
