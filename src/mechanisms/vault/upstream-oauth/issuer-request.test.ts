import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { decodeProtectedHeader, jwtVerify } from "jose";
import { describe, expect, test } from "vitest";
import { createEgress, type EgressAnswer } from "../../egress/index.ts";
import type { OAuthClient } from "./client-auth.ts";
import { register } from "./client-registration.ts";
import { ISSUER } from "./fixtures/fake-issuer.ts";
import { requestTokens } from "./token-request.ts";

const TRUST = { origins: [], loopback: false };
const GRANT = { grant_type: "authorization_code", code: "the-code-of-this", code_verifier: "the-verifier-of-it" };
const BASIC: OAuthClient = { id: "a-b.c", method: "client_secret_basic", secret: "top:secret value" };

/** An issuer that always answers this. */
function issuer(status: number, body: unknown) {
  const asked: { headers: Readonly<Record<string, string>>; form: URLSearchParams }[] = [];
  const answer: EgressAnswer = { status, headers: {}, body: typeof body === "string" ? body : JSON.stringify(body) };
  const egress = {
    async fetch({ headers = {}, body: sent = "" }: { headers?: Readonly<Record<string, string>>; body?: string }) {
      asked.push({ headers, form: new URLSearchParams(sent) });
      return answer;
    },
  };
  return { asked, reading: { egress, trust: TRUST } };
}

const TOKENS = { access_token: "at", token_type: "Bearer" };

function ask(client: OAuthClient, { reading }: ReturnType<typeof issuer>) {
  return requestTokens({ url: `${ISSUER}/token`, issuer: ISSUER, client }, GRANT, reading);
}

const privateKeyClient = (key: KeyObject): OAuthClient => ({
  id: "me",
  method: "private_key_jwt",
  privateKey: key.export({ type: "pkcs8", format: "pem" }).toString(),
});

describe("a client proves itself", () => {
  test("with a secret in the header, its id there as it is and once more in the body", async () => {
    const one = issuer(200, TOKENS);
    await ask(BASIC, one);
    const [{ headers, form } = { headers: {}, form: new URLSearchParams() }] = one.asked;
    const pair = Buffer.from((headers.Authorization ?? "").replace("Basic ", ""), "base64").toString();
    expect(pair).toBe("a-b.c:top%3Asecret+value");
    expect([form.get("client_id"), form.get("client_secret")]).toEqual(["a-b.c", null]);
  });

  test("with a secret in the body", async () => {
    const one = issuer(200, TOKENS);
    await ask({ ...BASIC, method: "client_secret_post" }, one);
    expect(one.asked[0]?.headers.Authorization).toBeUndefined();
    expect(one.asked[0]?.form.get("client_secret")).toBe("top:secret value");
  });

  test.each([
    ["RS256", generateKeyPairSync("rsa", { modulusLength: 2048 })],
    ["ES256", generateKeyPairSync("ec", { namedCurve: "P-256" })],
    ["ES384", generateKeyPairSync("ec", { namedCurve: "P-384" })],
    ["EdDSA", generateKeyPairSync("ed25519")],
  ])("with an assertion of %s for this issuer alone", async (alg, { privateKey, publicKey }) => {
    const one = issuer(200, TOKENS);
    await ask(privateKeyClient(privateKey), one);
    const assertion = one.asked[0]?.form.get("client_assertion") ?? "";
    const { payload } = await jwtVerify(assertion, publicKey, { issuer: "me", subject: "me", audience: ISSUER });
    expect(decodeProtectedHeader(assertion)).toMatchObject({ alg, typ: "JWT" });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(60);
  });

  test.each<[string, OAuthClient]>([
    ["a secret that is gone", { id: "me", method: "client_secret_basic" }],
    ["a key that cannot be read", { id: "me", method: "private_key_jwt", privateKey: "no PEM" }],
    ["a key that cannot sign", privateKeyClient(generateKeyPairSync("x25519").privateKey)],
  ])("and sends nothing with %s", async (_what, client) => {
    const one = issuer(200, TOKENS);
    await expect(ask(client, one)).rejects.toMatchObject({ name: "OAuthFault" });
    expect(one.asked).toEqual([]);
  });
});

describe("the answer of an issuer", () => {
  test.each<[string, number, object]>([
    ["has another good status", 201, TOKENS],
    ["says null for what is not there", 200, { ...TOKENS, expires_in: null, refresh_token: null, scope: null }],
    ["writes its type in other letters", 200, { ...TOKENS, token_type: "BEARER" }],
    ["brings an ID token that is none", 200, { ...TOKENS, id_token: "not.a.token" }],
  ])("is taken where it %s", async (_what, status, body) => {
    expect(await ask(BASIC, issuer(status, body))).toEqual({ accessToken: "at" });
  });

  test.each<[string, unknown]>([
    ["no JSON", "<html>"],
    ["a list", [TOKENS]],
    ["no token", { token_type: "Bearer" }],
    ["a token that breaks a header", { ...TOKENS, access_token: "a\r\nX: y" }],
    ["a token that is too long", { ...TOKENS, access_token: "a".repeat(16_385) }],
    ["a token of another type", { ...TOKENS, token_type: "DPoP" }],
    ["an end that is no number", { ...TOKENS, expires_in: "soon" }],
    ["an end in the past", { ...TOKENS, expires_in: -1 }],
    ["an end at once", { ...TOKENS, expires_in: 0 }],
  ])("is refused where it is %s", async (_what, body) => {
    await expect(ask(BASIC, issuer(200, body))).rejects.toMatchObject({ name: "OAuthFault" });
  });

  test.each([400, 401, 403, 500, 503])("that refuses with %d is told in the issuer's words", async (status) => {
    const said = { error: "invalid_client", error_description: "Missing client_id" };
    const fault = await ask(BASIC, issuer(status, said)).catch((error: unknown) => error);
    expect(fault).toMatchObject({
      code: "invalid_client",
      message: "The authorization server refused a token request (invalid_client: Missing client_id).",
    });
  });

  test("that repeats what was confided to it is told without that", async () => {
    const { Authorization } = { Authorization: Buffer.from("a-b.c:top%3Asecret+value").toString("base64") };
    const words = `no: the-code-of-this the-verifier-of-it top:secret value top%3Asecret+value ${Authorization}`;
    const fault = await ask(BASIC, issuer(400, { error: "invalid_grant", error_description: words })).catch(String);
    expect(fault).toContain("(invalid_grant: no: … … … … …).");
  });

  test.each([
    [404, "<html>", "HTTP 404"],
    [503, "", "HTTP 503"],
    [302, "", "HTTP 302"],
    [400, { error: "a b\n" }, "HTTP 400"],
  ])("with %d and %j is told by its status", async (status, body, why) => {
    await expect(ask(BASIC, issuer(status, body))).rejects.toThrow(`refused a token request (${why}).`);
  });

  test("to a registration is taken as servers give it: with 200, null for what is not there, and no word on its end", async () => {
    const { reading } = issuer(200, {
      client_id: "new",
      client_secret: "s",
      jwks_uri: null,
      token_endpoint_auth_method: null,
    });
    const document = { issuer: ISSUER, token_endpoint: `${ISSUER}/token`, registration_endpoint: `${ISSUER}/register` };
    const client = await register(document, "https://gateway.example/oauth/callback", reading);
    expect(client).toEqual({ id: "new", secret: "s", method: "client_secret_basic" });
  });
});

test.each(["https://169.254.169.254/token", "http://issuer.example/token", "https://user:pw@issuer.example/token"])(
  "nothing goes to %s, whoever named it",
  async (url) => {
    const resolve = async () => [{ address: "93.184.216.34", family: 4 }];
    const reading = { egress: createEgress({ resolve }), trust: TRUST };
    const fault = await requestTokens({ url, issuer: ISSUER, client: BASIC }, GRANT, reading).catch((error) => error);
    expect(fault).toMatchObject({ name: "OAuthFault", cause: { name: "EgressFault", reason: "refused" } });
  },
);
