import { createHmac, generateKeyPairSync, sign as signBytes } from "node:crypto";
import { exportSPKI, type JWK } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import { expectTrace } from "../../../tests/kit/attack-trace.ts";
import type { HttpRequest } from "../../contract/index.ts";
import {
  BASE,
  bearer,
  IdentityRig,
  ISSUER,
  type KeyPair,
  makeKey,
  NOW,
  OTHER_ISSUER,
  request,
  sign,
} from "./fixtures/identity-rig.ts";
import type { Refusal } from "./refusal.ts";
import { twinOf } from "./token-twin.ts";

const SECONDS = NOW / 1_000;
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const claims = { iss: ISSUER, aud: `${BASE}/mcp`, sub: "ada", exp: SECONDS + 600 };

const small = generateKeyPairSync("rsa", { modulusLength: 1024 });

let key: KeyPair;
let otherKey: KeyPair;
let ecKey: KeyPair;
let stranger: KeyPair;

beforeAll(async () => {
  [key, otherKey, ecKey, stranger] = await Promise.all([
    makeKey("one"),
    makeKey("two"),
    makeKey("curve", "ES256"),
    makeKey("one"),
  ]);
});

/** Signed with the public key as if it were a shared one. */
async function hmacWithPublicKey(alg: string, hash: string): Promise<string> {
  const head = `${encode({ alg, kid: "one" })}.${encode(claims)}`;
  const secret = await exportSPKI(key.publicKey);
  return `${head}.${createHmac(hash, secret).update(head).digest("base64url")}`;
}

const changed = async (change: (parts: string[]) => string[]) => change((await sign(key)).split(".")).join(".");

type Attack = readonly [name: string, reason: Refusal, make: (rig: IdentityRig) => HttpRequest | Promise<HttpRequest>];

const ATTACKS: readonly Attack[] = [
  ["no credentials", "missing", () => request(undefined)],
  ["no credentials on GET", "missing", () => request(undefined, { method: "GET" })],
  ["no credentials on DELETE", "missing", () => request(undefined, { method: "DELETE" })],
  ["an empty header", "scheme", () => request("")],
  ["an empty bearer", "malformed", () => request("Bearer ")],
  ["a bearer without a blank", "scheme", () => request("Bearerabc")],
  ["Basic", "scheme", () => request("Basic YWRhOnNlY3JldA==")],
  ["Digest", "scheme", () => request('Digest username="ada"')],
  ["the token without its scheme", "scheme", (rig) => request(rig.addToken())],
  ["two tokens in one header", "malformed", (rig) => request(`Bearer ${rig.addToken()}, Bearer ${rig.addToken()}`)],
  ["a token with a blank inside", "malformed", (rig) => request(`Bearer ${rig.addToken().replace("_", " ")}`)],
  ["a token that is not ASCII", "malformed", (rig) => request(`Bearer ${rig.addToken()}\u00e9`)],
  ["a huge token", "malformed", () => bearer("a".repeat(9_000))],
  ["a token in the URL", "query", (rig) => request(undefined, { url: `/mcp?access_token=${rig.addToken()}` })],
  ["a token in the path", "missing", (rig) => request(undefined, { url: `/${rig.addToken()}/mcp` })],
  ["a good token beside one in the URL", "query", (rig) => bearer(rig.addToken(), { url: "/mcp?access_token=x" })],
  [
    "a token in the URL under another name",
    "query",
    (rig) => request(undefined, { url: `/mcp?key=${rig.addToken()}` }),
  ],
  ["a signed token in the URL", "query", async () => request(undefined, { url: `/mcp?t=${await sign(key)}` })],
  ["an unknown static token", "unknown", () => bearer(`isth_${"A".repeat(43)}`)],
  ["a static token in other case", "unknown", (rig) => bearer(swapCase(rig.addToken()))],
  ["a static token that is longer", "malformed", (rig) => bearer(`${rig.addToken()}A`)],
  ["a static token that is shorter", "malformed", (rig) => bearer(rig.addToken().slice(0, -1))],
  ["the hash of a static token", "malformed", (rig) => hashOf(rig)],
  ["a static token that has expired", "expired", (rig) => bearer(rig.addToken({ expiresAt: NOW }))],
  ["a static token that was revoked", "unknown", (rig) => revokedToken(rig)],
  ["a token of a caller who is blocked", "revoked", (rig) => blockedToken(rig)],
  ["a static token of all tenants", "claims", (rig) => bearer(rig.addToken({ tenant: "*" }))],
  ["alg none", "algorithm", () => bearer(`${encode({ alg: "none" })}.${encode(claims)}.`)],
  ["alg None", "algorithm", () => bearer(`${encode({ alg: "None" })}.${encode(claims)}.AA`)],
  ["no alg", "algorithm", () => bearer(`${encode({ kid: "one" })}.${encode(claims)}.AA`)],
  ["HS256 with the public key", "algorithm", async () => bearer(await hmacWithPublicKey("HS256", "sha256"))],
  ["HS512 with the public key", "algorithm", async () => bearer(await hmacWithPublicKey("HS512", "sha512"))],
  ["RS512, which is not on the list", "algorithm", () => bearer(`${encode({ alg: "RS512" })}.${encode(claims)}.AA`)],
  ["an algorithm that does not fit the key", "key", async () => bearer(await sign(ecKey, {}, { kid: "one" }))],
  ["RS256 changed to PS256", "signature", () => withHeader({ alg: "PS256", kid: "one" })],
  ["a signature of a stranger under a known kid", "signature", async () => bearer(await sign(stranger))],
  ["a key of another issuer", "key", async () => bearer(await sign(otherKey))],
  ["a key in the header", "header", async () => bearer(await sign(stranger, {}, { jwk: stranger.jwk }))],
  ["a key by jku", "header", async () => bearer(await sign(stranger, {}, { jku: "https://evil.example/keys" }))],
  ["a key by x5u", "header", async () => bearer(await sign(stranger, {}, { x5u: "https://evil.example/chain" }))],
  ["a chain in the header", "header", async () => bearer(await sign(stranger, {}, { x5c: ["AAAA"] }))],
  ["a kid that is a path", "key", async () => bearer(await sign(stranger, {}, { kid: "../../dev/null" }))],
  ["a kid that is a URL", "key", async () => bearer(await sign(stranger, {}, { kid: "https://evil.example/k" }))],
  ["a kid of another type", "header", () => withHeader({ alg: "RS256", kid: 1 })],
  ["a demand in crit", "header", () => withHeader({ alg: "RS256", kid: "one", crit: ["exp"] })],
  ["an unencoded payload", "header", () => withHeader({ alg: "RS256", kid: "one", b64: false })],
  ["a token of another type", "header", async () => bearer(await sign(key, {}, { typ: "logout+jwt" }))],
  ["a wrong audience", "audience", async () => bearer(await sign(key, { aud: "https://elsewhere.example/mcp" }))],
  ["the audience of another endpoint", "audience", async () => bearer(await sign(key, { aud: `${BASE}/ops/mcp` }))],
  ["the audience of everything at one endpoint", "audience", async () => bearer(await sign(key), { url: "/ops/mcp" })],
  [
    "an audience that only begins alike",
    "audience",
    async () => bearer(await sign(key, { aud: `${BASE}/mcp.evil.example` })),
  ],
  ["an audience in other case", "audience", async () => bearer(await sign(key, { aud: `${BASE}/MCP` }))],
  ["an audience with two slashes", "audience", async () => bearer(await sign(key, { aud: `${BASE}/mcp//` }))],
  ["the client as audience, as in an ID token", "audience", async () => bearer(await sign(key, { aud: "agent" }))],
  ["no audience", "claims", async () => bearer(await sign(key, { aud: undefined }))],
  ["an expired token", "expired", async () => bearer(await sign(key, { exp: SECONDS - 31 }))],
  ["a token without an end", "claims", async () => bearer(await sign(key, { exp: undefined }))],
  ["a token that is not valid yet", "early", async () => bearer(await sign(key, { nbf: SECONDS + 31 }))],
  ["an unknown issuer", "issuer", async () => bearer(await sign(stranger, { iss: "https://evil.example" }))],
  ["an issuer with a slash more", "issuer", async () => bearer(await sign(key, { iss: `${ISSUER}/` }))],
  ["an issuer in other case", "issuer", async () => bearer(await sign(key, { iss: ISSUER.toUpperCase() }))],
  ["another issuer's name over a known key", "key", async () => bearer(await sign(key, { iss: OTHER_ISSUER }))],
  ["no issuer", "issuer", async () => bearer(await sign(key, { iss: undefined }))],
  ["no subject", "claims", async () => bearer(await sign(key, { sub: undefined }))],
  ["a subject that is too long", "claims", async () => bearer(await sign(key, { sub: "a".repeat(300) }))],
  ["a subject with a line break", "claims", async () => bearer(await sign(key, { sub: "ada\r\nroot" }))],
  [
    "another payload under the signature",
    "signature",
    async () => bearer(await changed(([h = "", , s = ""]) => [h, encode({ ...claims, sub: "root" }), s])),
  ],
  ["no signature", "signature", async () => bearer(await changed(([h = "", p = ""]) => [h, p, ""]))],
  ["two parts", "malformed", async () => bearer(await changed(([h = "", p = ""]) => [h, p]))],
  ["many dots", "malformed", () => bearer("a.".repeat(4_000))],
  [
    "five parts, as of an encrypted token",
    "malformed",
    async () => bearer(await changed((parts) => [...parts, "AA", "AA"])),
  ],
  ["padding behind the signature", "malformed", async () => bearer(`${await sign(key)}==`)],
  [
    "padding behind the header",
    "malformed",
    async () => bearer(await changed(([h = "", ...more]) => [`${h}=`, ...more])),
  ],
  ["unused bits of the last character set", "malformed", async () => bearer(respelled(await sign(key)))],
  ["unused bits set in a signature of a curve", "malformed", async () => bearer(respelled(await sign(ecKey)))],
  ["the other alphabet of base64", "malformed", async () => bearer(await withOtherAlphabet())],
  ["a signature of a key that is too small", "key", async () => bearer(await signWithSmallKey())],
  ["an audience that is an object", "claims", async () => bearer(await sign(key, { aud: {} }))],
  ["an audience that is a number", "claims", async () => bearer(await sign(key, { aud: 1 }))],
  ["an audience of objects", "claims", async () => bearer(await sign(key, { aud: [{}] }))],
  ["an audience that is null", "claims", async () => bearer(await sign(key, { aud: null }))],
  ["an end beyond all time", "claims", async () => bearer(await sign(key, { exp: 1e300 }))],
  ["an end that is a text", "claims", async () => bearer(await sign(key, { exp: String(SECONDS + 600) }))],
  ["a subject that is an object", "claims", async () => bearer(await sign(key, { sub: { name: "ada" } }))],
  ["the name of the local user", "claims", async () => bearer(await sign(key, { sub: "local", azp: "local" }))],
  ["a header that is no object", "malformed", () => bearer(`${encode("RS256")}.${encode(claims)}.AA`)],
  ["a payload that is no object", "malformed", () => bearer(`${encode({ alg: "RS256" })}.${encode([1])}.AA`)],
];

/** The same bytes with another last character. */
function respelled(token: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return token.slice(0, -1) + alphabet[alphabet.indexOf(token.at(-1) ?? "") + 1];
}

async function withOtherAlphabet(): Promise<string> {
  for (let number = 0; ; number++) {
    const token = await sign(key, { number });
    const [head, payload, signature = ""] = token.split(".");
    if (/[-_]/.test(signature)) return `${head}.${payload}.${signature.replaceAll("-", "+").replaceAll("_", "/")}`;
  }
}

/** As whoever runs an old issuer would: libraries of today refuse to. */
async function signWithSmallKey(): Promise<string> {
  const text = `${encode({ alg: "RS256", kid: "small" })}.${encode(claims)}`;
  return `${text}.${signBytes("sha256", Buffer.from(text), small.privateKey).toString("base64url")}`;
}

function swapCase(token: string): string {
  return (
    token.slice(0, 5) +
    [...token.slice(5)].map((c) => (c === c.toUpperCase() ? c.toLowerCase() : c.toUpperCase())).join("")
  );
}

function hashOf(rig: IdentityRig): HttpRequest {
  rig.addToken();
  return bearer([...rig.tokens.rows.keys()][0] ?? "");
}

async function revokedToken(rig: IdentityRig): Promise<HttpRequest> {
  const asked = bearer(rig.addToken());
  await rig.who(asked);
  const [hash = ""] = rig.tokens.rows.keys();
  rig.tokens.rows.clear();
  rig.identity.forget({ hash });
  return asked;
}

async function blockedToken(rig: IdentityRig): Promise<HttpRequest> {
  const asked = bearer(rig.addToken());
  const { id } = await rig.who(asked);
  rig.revoked.add(id);
  rig.identity.doubtAll();
  return asked;
}

async function withHeader(header: object): Promise<HttpRequest> {
  return bearer(await changed(([, p = "", s = ""]) => [encode(header), p, s]));
}

function makeRig(): IdentityRig {
  const rig = new IdentityRig();
  rig.publish(ISSUER, key.jwk, ecKey.jwk, { ...small.publicKey.export({ format: "jwk" }), kid: "small" } as JWK);
  rig.publish(OTHER_ISSUER, otherKey.jwk);
  return rig;
}

describe("an attack on identity", () => {
  test("could succeed: the tokens that the attacks change are good", async () => {
    const rig = makeRig();
    expect((await rig.who(bearer(await sign(key)))).identity?.user).toBe("ada");
    expect((await rig.who(bearer(await sign(ecKey)))).identity?.user).toBe("ada");
    expect((await rig.who(bearer(await sign(otherKey, { iss: OTHER_ISSUER })))).identity?.user).toBe("ada");
    expect((await rig.who(bearer(rig.addToken()))).identity?.user).toBe("ada");
  });

  test("by a revoked token in the other spelling of its signature is known for the same token", async () => {
    const rig = makeRig();
    const token = await sign(ecKey);
    const twin = twinOf(token, "ES256") ?? "";
    const [one, other] = [await rig.who(bearer(token)), await rig.who(bearer(twin))];
    expect(one.identity?.twinHash).toBe(other.identity?.tokenHash);
    expect(other.identity?.twinHash).toBe(one.identity?.tokenHash);
  });

  test.each(ATTACKS)("with %s is refused (%s) and noted, twice in a row [AP-182]", async (_name, reason, make) => {
    const rig = makeRig();
    const asked = await make(rig);
    for (const _ of [1, 2]) {
      await expect(rig.who(asked)).rejects.toMatchObject({ code: "NOT_AUTHENTICATED", details: { reason } });
    }
    expect(rig.noted).toHaveLength(2);
    const details = { method: asked.method, address: "203.0.113.7" };
    const trace = { type: "dev.isthmus.authentication_failed", why: reason, actor: "unknown", details };
    expectTrace(rig.noted, trace, [asked.headers.authorization ?? "", ...asked.url.split("=").slice(1)]);
    // Nobody was asked for keys but the issuers.
    expect(rig.reads.every((url) => url.startsWith(ISSUER) || url.startsWith(OTHER_ISSUER))).toBe(true);
  });
});
