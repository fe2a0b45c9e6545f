import { describe, expect, test } from "vitest";
import { createLineSplitter } from "./line-splitter.ts";

function split(chunks: string[], maxLineBytes = 100): string[] {
  const lines: string[] = [];
  const splitter = createLineSplitter({ maxLineBytes, onLine: (line) => lines.push(line) });
  for (const chunk of chunks) splitter.push(chunk);
  return lines;
}

describe("createLineSplitter", () => {
  test("gives the same lines however the text is cut", () => {
    const text = "one\ntwo\r\n\n\r\nthr\ree\n";
    expect(split([text])).toEqual(["one", "two", "thr\ree"]);
    expect(split(text.split(""))).toEqual(["one", "two", "thr\ree"]);
  });

  test("keeps a line back until it is ended", () => {
    expect(split(["a\nb"])).toEqual(["a"]);
  });

  test("allows a line of exactly the bound and refuses a longer one", () => {
    expect(split([`${"x".repeat(100)}\n`])).toHaveLength(1);
    expect(() => split([`${"x".repeat(101)}\n`])).toThrow(/100 bytes/);
    expect(() => split(Array(101).fill("x"))).toThrow(/100 bytes/);
  });
});
