import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { PARTS, unmappedPage } from "./unmapped.ts";

describe("unmappedPage", () => {
  test("writes one table for each pair of eras, with the file of each test", () => {
    const row = { what: "A | B", gets: "400, -32602", why: "no reason", test: ["src/a.test.ts", "does it"] } as const;
    const { path, text } = unmappedPage([{ title: "One", rows: [row] }]);
    expect(path).toBe("docs/reference/unmapped.md");
    expect(text).toContain("## One\n\n| what |");
    expect(text).toContain("| A \\| B | 400, -32602 | no reason | `src/a.test.ts` |");
  });

  const rows = PARTS.flatMap((part) => part.rows);
  test.each(rows)("names a test that exists: $what", ({ test: [file, title] }) => {
    expect(readFileSync(file, "utf8")).toContain(title);
  });
});
