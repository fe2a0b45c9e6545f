import { generateKeyPairSync, sign, verify } from "node:crypto";
import { describe, expect, test } from "vitest";
import { oneOfTwins, twinOf } from "./token-twin.ts";

const { privateKey: elliptic } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const { privateKey: edwards } = generateKeyPairSync("ed25519");
const signed = (text: string) => {
  const made = sign("sha256", Buffer.from(text), { key: elliptic, dsaEncoding: "ieee-p1363" });
  return `${text}.${made.toString("base64url")}`;
};

const CURVES = [
  ["ES256", "P-256", "sha256"],
  ["ES384", "P-384", "sha384"],
] as const;

describe("twinOf", () => {
  test.each(CURVES)("finds the other signature that fits a token of %s, and back again", (alg, namedCurve, hash) => {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve });
    for (let number = 0; number < 50; number++) {
      const text = `head.${number}`;
      const made = sign(hash, Buffer.from(text), { key: privateKey, dsaEncoding: "ieee-p1363" });
      const token = `${text}.${made.toString("base64url")}`;
      const twin = twinOf(token, alg) ?? "";
      const signature = Buffer.from(twin.split(".")[2] ?? "", "base64url");
      expect(verify(hash, Buffer.from(text), { key: publicKey, dsaEncoding: "ieee-p1363" }, signature)).toBe(true);
      expect(twin).not.toBe(token);
      expect(twinOf(twin, alg)).toBe(token);
      const one = oneOfTwins(token);
      expect([token, twin]).toContain(one);
      expect(oneOfTwins(twin)).toBe(one);
    }
  });

  test.each(["RS256", "PS256", "EdDSA"])("knows of none for %s", (algorithm) => {
    expect(twinOf("a.b.AAAA", algorithm)).toBeUndefined();
  });
});

describe("oneOfTwins", () => {
  test("tells tokens apart whose first parts are the same", () => {
    const text = "head.payload";
    const ones = new Set(Array.from({ length: 50 }, () => oneOfTwins(signed(text))));
    expect(ones.size).toBe(50);
  });

  test("leaves alone what has no twin, or is no token", () => {
    const bytes = (length: number, value = 0xff) => Buffer.alloc(length, value).toString("base64url");
    const made = Array.from({ length: 50 }, (_none, at) => sign(null, Buffer.from(`${at}`), edwards));
    const others = made.map((signature) => `a.b.${signature.toString("base64url")}`);
    expect(new Set(others.map(oneOfTwins)).size).toBe(50);
    const texts = [
      "",
      ".",
      "isth_token",
      `a.b.${bytes(64)}`,
      `a.b.${bytes(96)}`,
      `a.b.${bytes(256)}`,
      bytes(64),
      `a.${bytes(64, 1)}`,
    ];
    for (const text of [...texts, `a.b.${"!".repeat(86)}`, `${signed("a.b")}==`]) expect(oneOfTwins(text)).toBe(text);
  });
});
