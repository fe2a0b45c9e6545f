import { describe, expect, test } from "vitest";
import { bytesHeldAfter } from "../../../../tests/kit/held-memory.ts";
import { ByteBudget, GatheredBytes } from "../../../contract/index.ts";
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

  test("keeps both ends of a line for which there is no memory, and goes on with the next", () => {
    const budget = new ByteBudget(100 * 1024);
    const gathered = new GatheredBytes(budget, { name: "server" });
    const lines: string[] = [];
    const dropped: [string, string][] = [];
    const maxLineBytes = 1024 * 1024;
    const splitter = createLineSplitter({
      maxLineBytes,
      gathered,
      onLine: (line) => lines.push(line),
      onDropped: (head, tail) => dropped.push([head.slice(0, 5), tail.slice(-5)]),
    });
    const fits = "y".repeat(40 * 1024);
    splitter.push(`first${"x".repeat(40 * 1024)}`);
    expect(budget.held).toBe(40 * 1024 + 5);
    splitter.push("x".repeat(40 * 1024));
    expect(budget.held).toBe(0);
    for (const piece of ["la", "st\n", fits, "\nlast"]) splitter.push(piece);
    expect(dropped).toEqual([["first", "xlast"]]);
    expect(lines).toEqual([fits]);
    expect(budget.held).toBe(0);
    expect(() => splitter.push("x".repeat(maxLineBytes))).toThrow("wrote a line of more than");
  });

  test("keeps little more than the bytes that came of a line that comes byte by byte", async () => {
    const bytes = 1024 * 1024;
    const splitter = createLineSplitter({ maxLineBytes: bytes, onLine: () => undefined });
    const held = await bytesHeldAfter(() => {
      for (let at = 0; at < bytes; at++) splitter.push("x");
    });
    expect(held).toBeLessThan(2.5 * bytes);
    splitter.push("\n");
  });
});
