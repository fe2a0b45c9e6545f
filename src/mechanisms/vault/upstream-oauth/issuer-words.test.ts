import { describe, expect, test } from "vitest";
import { plainWords } from "./issuer-words.ts";

describe("plainWords", () => {
  test("leaves what a person can read as it is", () => {
    expect(plainWords("Client authentication failed: unknown client.", [])).toBe(
      "Client authentication failed: unknown client.",
    );
  });

  test("takes out what steers a terminal or turns a text, and makes one line of many", () => {
    expect(plainWords("a\u001b[2Jb\u202ec\u0000\u200b d\t\n  e", [])).toBe("a[2Jbc d e");
  });

  test("takes out what was confided to the issuer, and the longer of two where one is in the other", () => {
    const said = "secret s3cret-s3cret and s3cret-s3cret-more of me";
    expect(plainWords(said, ["s3cret-s3cret", "s3cret-s3cret-more", "me"])).toBe("secret … and … of me");
  });

  test("is never long, and nothing where nothing was said", () => {
    expect(plainWords("x".repeat(10_000), [])).toHaveLength(300);
    expect([undefined, null, 7, {}].map((text) => plainWords(text, []))).toEqual(["", "", "", ""]);
  });
});
