import { createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { describe, expect, test } from "vitest";
import { NOW } from "./fixtures/shared-blocks.ts";
import { ownWords } from "./heard-words.ts";
import { type RevocationFeed, SignedRevocations } from "./signed-revocation.ts";

const ed = generateKeyPairSync("ed25519");
const ec = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
const FEED: RevocationFeed = { id: "hub", keys: [ed.publicKey, ec.publicKey], tenants: ["default"] };

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
const CLAIMS = { type: "client", hash: "abc", jti: "1", iat: NOW / 1000 };

type Made = { claims?: object; header?: object; key?: KeyObject };

function jws({ claims = {}, header = {}, key = ed.privateKey }: Made = {}): string {
  const alg = key.asymmetricKeyType === "ec" ? "ES256" : "EdDSA";
  const text = `${encode({ typ: "isthmus-revocation+jwt", alg, ...header })}.${encode({ ...CLAIMS, ...claims })}`;
  const signed =
    key.asymmetricKeyType === "ec"
      ? sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" })
      : sign(null, Buffer.from(text), key);
  return `${text}.${signed.toString("base64url")}`;
}

const open = (text: string, feed = FEED) =>
  new SignedRevocations(
    () => NOW,
    ownWords(() => NOW),
  ).open(text, [feed]);

describe("a signed revocation", () => {
  test("is taken when a feed's key signed it, with either algorithm [AP-138]", async () => {
    expect(await open(jws())).toMatchObject({ feed: { id: "hub" }, claims: { hash: "abc" } });
    expect(await open(jws({ key: ec.privateKey }))).toMatchObject({ feed: { id: "hub" } });
  });

  const publicPem = ed.publicKey.export({ type: "spki", format: "pem" });
  const confused = (() => {
    const text = `${encode({ typ: "isthmus-revocation+jwt", alg: "HS256" })}.${encode(CLAIMS)}`;
    return `${text}.${createHmac("sha256", publicPem).update(text).digest("base64url")}`;
  })();
  const [head = "", , tail = ""] = jws().split(".");

  test.each([
    ["a stranger signed it", jws({ key: generateKeyPairSync("ed25519").privateKey })],
    ["it was signed with the public key as a secret", confused],
    [
      "it says that it needs no signature",
      `${encode({ typ: "isthmus-revocation+jwt", alg: "none" })}.${encode(CLAIMS)}.`,
    ],
    ["it names an algorithm that is not the key's", jws({ header: { alg: "ES256" } })],
    ["it was signed for something else", jws({ header: { typ: "JWT" } })],
    ["it demands what is not understood", jws({ header: { crit: ["x"] } })],
    ["its claims were changed", `${head}.${encode({ ...CLAIMS, hash: "other" })}.${tail}`],
    ["it is old", jws({ claims: { iat: NOW / 1000 - 301 } })],
    ["it is from the future", jws({ claims: { iat: NOW / 1000 + 301 } })],
    ["it has no name of its own", jws({ claims: { jti: "" } })],
    ["its signature has padding", `${jws()}==`],
    ["it is no JWS", "a.b"],
    ["it has four parts", `${jws()}.x`],
    ["it is huge", `${"a".repeat(9_000)}.b.c`],
  ])("is refused where %s", async (_why, text) => {
    await expect(open(text)).rejects.toThrow("not accepted");
  });

  test("is taken once, and again where what it says was not written down", async () => {
    let now = NOW;
    const clock = () => now;
    const signed = new SignedRevocations(clock, ownWords(clock));
    const text = jws();
    await signed.open(text, [FEED]);
    await signed.remember(await signed.open(text, [FEED]));
    await expect(signed.open(text, [FEED])).rejects.toThrow("not accepted");
    now += 5 * 60_000;
    await expect(signed.open(text, [FEED])).rejects.toThrow("not accepted");
    expect(await signed.open(jws({ claims: { jti: "2" } }), [FEED])).toBeDefined();
  });

  test("must be for this gateway where the operator says what it is called", async () => {
    const feed = { ...FEED, audience: "us" };
    await expect(open(jws({ claims: { aud: "them" } }), feed)).rejects.toThrow("not accepted");
    expect(await open(jws({ claims: { aud: "us" } }), feed)).toBeDefined();
  });
});
