import { describe, expect, test } from "vitest";
import { createSeal } from "./seal.ts";

const MASTER = Buffer.alloc(32, 7);
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.+/= ";

describe("createSeal", () => {
  test("opens what it sealed, and never seals the same text twice alike", () => {
    const keys = createSeal({ master: MASTER });
    const [one, two] = [keys.seal("p", "o", "ä text"), keys.seal("p", "o", "ä text")];
    expect(keys.open("p", "o", one)).toBe("ä text");
    expect(one).not.toBe(two);
    expect(one).toMatch(/^k[0-9a-f]{8}\.[A-Za-z0-9_-]+$/);
    expect(one).not.toContain("text");
  });

  test("opens nothing that was changed, at any place, to any character", () => {
    const keys = createSeal({ master: MASTER });
    const sealed = keys.seal("p", "o", '{"v":1}');
    for (let at = 0; at < sealed.length; at++) {
      for (const char of ALPHABET) {
        if (char === sealed.charAt(at)) continue;
        const changed = sealed.slice(0, at) + char + sealed.slice(at + 1);
        expect(keys.open("p", "o", changed)).toBeUndefined();
      }
      expect(keys.open("p", "o", sealed.slice(0, at))).toBeUndefined();
    }
    expect(keys.open("p", "o", `${sealed}A`)).toBeUndefined();
  });

  test("opens only for the same purpose and owner", () => {
    const keys = createSeal({ master: MASTER });
    const sealed = keys.seal("p", "o", "x");
    expect(keys.open("q", "o", sealed)).toBeUndefined();
    expect(keys.open("p", "x", sealed)).toBeUndefined();
  });

  test("opens under the same master in another process, and under a former one while it is being replaced", () => {
    const sealed = createSeal({ master: MASTER }).seal("p", "o", "x");
    expect(createSeal({ master: MASTER }).open("p", "o", sealed)).toBe("x");
    const next = Buffer.alloc(40, 9);
    expect(createSeal({ master: next }).open("p", "o", sealed)).toBeUndefined();
    expect(createSeal({ master: next, former: MASTER }).open("p", "o", sealed)).toBe("x");
    expect(createSeal().open("p", "o", sealed)).toBeUndefined();
  });

  test.each(["", "k", "k00000000.", "k00000000.AAAA", `k00000000.${"A".repeat(200_000)}`])(
    "opens no garbage",
    (text) => {
      expect(createSeal({ master: MASTER }).open("p", "o", text)).toBeUndefined();
    },
  );

  test("refuses a master that is too short", () => {
    expect(() => createSeal({ master: Buffer.alloc(31) })).toThrow("32 bytes");
  });
});
