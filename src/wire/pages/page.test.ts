import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { escapeVisibly, OWN_PAGE_LINES, PAGE_LINES, page } from "./page.ts";

describe("page", () => {
  test("lets browsers take its own style, and nothing else", () => {
    const [, style = ""] = /<style>([\s\S]*)<\/style>/.exec(page("x", "")) ?? [];
    const hash = createHash("sha256").update(style).digest("base64");
    for (const lines of [PAGE_LINES, OWN_PAGE_LINES]) {
      expect(lines).toContain(
        `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; frame-ancestors 'none'`,
      );
      expect(lines).not.toContain("unsafe");
    }
  });

  test("writes its title as text, wherever it stands", () => {
    expect(page("</title><script>", "")).not.toContain("<script>");
  });
});

describe("escapeVisibly", () => {
  test.each([
    ["text that runs backwards", "a\u202eb", "a\\u{202e}b"],
    ["what has no width", "a\u200bb\ufeff", "a\\u{200b}b\\u{feff}"],
    ["ends of lines and controls", "a\u2028\u0007\nb", "a\\u{2028}\\u{7}\\u{a}b"],
    ["letters that only tags have", "a\u{e0041}", "a\\u{e0041}"],
    ["half a character", "a\ud800", "a\\u{d800}"],
    ["what HTML reads", `<a b="c" d='e'>&`, "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;"],
  ])("shows %s", (_what, text, shown) => {
    expect(escapeVisibly(text)).toBe(shown);
  });

  test("leaves ordinary text of any script as it is", () => {
    expect(escapeVisibly("Ventil öffnen 阀门 клапан 👍")).toBe("Ventil öffnen 阀门 клапан 👍");
  });
});
