import { describe, expect, test } from "vitest";
import { fitsShown } from "./markdown.ts";

describe("fitsShown", () => {
  test("takes … for any text of a line", () => {
    expect(fitsShown("at … ms\n", "at 4.7 ms\n", "all")).toBe(true);
    expect(fitsShown("at … ms\n", "at 4\n7 ms\n", "all")).toBe(false);
  });

  test("takes … alone on a line for any lines, none included", () => {
    expect(fitsShown("first\n…\nlast\n", "first\nlast\n", "all")).toBe(true);
    expect(fitsShown("first\n…\nlast\n", "first\none\ntwo\nlast\n", "all")).toBe(true);
    expect(fitsShown("first\n…\nlast\n", "first\none\n", "all")).toBe(false);
  });

  test("takes everything else as it stands", () => {
    expect(fitsShown("a.c (x)\n", "abc (x)\n", "all")).toBe(false);
    expect(fitsShown("one\n", "one\ntwo\n", "all")).toBe(false);
    expect(fitsShown("one\n", "one\ntwo\n", "beginning")).toBe(true);
  });
});
