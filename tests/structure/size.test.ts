import { expect, test } from "vitest";
import { listFiles, readText } from "./repo-files.ts";

const LIMIT = 500;

function describeOversized(path: string, text: string): string | undefined {
  const lines = text.split("\n").length - 1;
  return lines > LIMIT
    ? `${path} has ${lines} lines; over ${LIMIT} a file holds more than one thing. Split it by concept, not by kind.`
    : undefined;
}

test("no file under src is longer than 500 lines", () => {
  const problems = listFiles("src", ".ts").map((path) => describeOversized(path, readText(path)));
  expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
});

test("a file of 501 lines is reported by name", () => {
  expect(describeOversized("src/a.ts", "x\n".repeat(501))).toContain("src/a.ts has 501 lines");
  expect(describeOversized("src/a.ts", "x\n".repeat(500))).toBeUndefined();
});
