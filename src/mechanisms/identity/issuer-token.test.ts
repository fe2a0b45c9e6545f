import { beforeAll, describe, expect, test } from "vitest";
import { expectTrace } from "../../../tests/kit/attack-trace.ts";
import {
  BASE,
  bearer,
  IdentityRig,
  ISSUER,
  type KeyPair,
  makeKey,
  NOW,
  OTHER_ISSUER,
  sign,
} from "./fixtures/identity-rig.ts";

const SECONDS = NOW / 1_000;
let key: KeyPair;
let nextKey: KeyPair;

beforeAll(async () => {
  [key, nextKey] = await Promise.all([makeKey("one"), makeKey("next", "ES256")]);
});

describe("a token of an issuer", () => {
  const rigOf = (options?: ConstructorParameters<typeof IdentityRig>[0]) => {
    const rig = new IdentityRig(options);
    rig.publish(ISSUER, key.jwk);
    return rig;
  };

  test("makes its bearer a principal, another one for each client", async () => {
    const rig = rigOf();
    const token = await sign(key, { aud: BASE, groups: ["dev", 1], scope: "a b", role: "operator" });
    expect(await rig.who(bearer(token))).toMatchObject({
      id: "oidc:login.example:ada:agent",
      identity: {
        tenant: "default",
        user: "ada",
        client: "agent",
        groups: ["dev"],
        scopes: ["a", "b"],
        role: "operator",
        proof: "oidc",
        expiresAt: (SECONDS + 630) * 1_000,
      },
    });
    expect((await rig.who(bearer(await sign(key, { azp: "other" })))).id).toBe("oidc:login.example:ada:other");
    expect((await rig.who(bearer(await sign(key, { azp: undefined, client_id: "c" })))).id).toBe(
      "oidc:login.example:ada:c",
    );
  });

  test("cannot pretend to be another principal by what stands in its names", async () => {
    const rig = rigOf();
    const one = await rig.who(bearer(await sign(key, { sub: "ada:x", azp: "y" })));
    const two = await rig.who(bearer(await sign(key, { sub: "ada", azp: "x:y" })));
    expect(one.id).not.toBe(two.id);
  });

  test("has no role that is none of ours", async () => {
    const rig = rigOf();
    const roleOf = async (claims: Record<string, unknown>) =>
      (await rig.who(bearer(await sign(key, claims)))).identity?.role;
    expect(await roleOf({ aud: BASE, role: "root" })).toBeUndefined();
    expect(await roleOf({ aud: BASE, role: ["viewer", "x"] })).toBe("viewer");
  });

  test("has a role only where it is for the whole gateway", async () => {
    const rig = rigOf({ audience: ["all-of-it"] });
    const roleOf = async (aud: unknown) =>
      (await rig.who(bearer(await sign(key, { aud, role: "admin" })))).identity?.role;
    for (const aud of [BASE, `${BASE}/`, "all-of-it", [`${BASE}/mcp`, BASE]]) expect(await roleOf(aud)).toBe("admin");
    for (const aud of [`${BASE}/mcp`, `${BASE}/mcp/`, [`${BASE}/mcp`, `${BASE}/ops/mcp`]])
      expect(await roleOf(aud)).toBeUndefined();
  });

  test.each([
    [`${BASE}/mcp`, "/mcp"],
    [`${BASE}/mcp/`, "/mcp"],
    [`${BASE}/mcp`, "/mcp?x=1"],
    [`${BASE}/ops/mcp`, "/ops/mcp"],
    [`${BASE}/ops/mcp/`, "/ops/mcp"],
    [BASE, "/mcp"],
    [`${BASE}/`, "/ops/mcp"],
    [BASE, "/api/servers"],
    [`${BASE}/sse`, "/messages?sessionId=1"],
    ["urn:gateway", "/ops/mcp"],
  ])("for %s is good at %s", async (aud, url) => {
    const rig = rigOf({ audience: ["urn:gateway"] });
    expect(await rig.who(bearer(await sign(key, { aud: ["urn:other", aud] }), { url }))).toBeDefined();
  });

  test.each([
    [`${BASE}/mcp`, "/api/servers"],
    [`${BASE}/mcp`, "/metrics"],
    ["urn:gateway/", "/mcp"],
  ])("for %s is refused at %s", async (aud, url) => {
    const rig = rigOf({ audience: ["urn:gateway"] });
    await expect(rig.who(bearer(await sign(key, { aud }), { url }))).rejects.toMatchObject({
      details: { reason: "audience" },
    });
  });

  test("that is known at one endpoint is judged anew at another", async () => {
    const rig = rigOf();
    const token = await sign(key);
    await rig.who(bearer(token));
    expect(() => rig.identity.authenticate(bearer(token, { url: "/ops/mcp" }))).toThrow("not for this resource");
  });

  test("that is refused here is not kept to be exchanged in place of a good one", async () => {
    const proven: string[] = [];
    const rig = rigOf({ onProven: (_principal, token) => void proven.push(token), requiredScopes: ["use"] });
    const good = await sign(key, { scope: "use" });
    const [elsewhere, short] = [await sign(key, { scope: "use", aud: `${BASE}/ops/mcp` }), await sign(key)];
    await rig.who(bearer(good));
    for (const token of [elsewhere, short]) {
      await expect(rig.who(bearer(token))).rejects.toBeDefined();
      await expect(rig.identity.signIn(bearer(good), token)).rejects.toBeDefined();
    }
    expect(proven).toEqual([good]);
    await rig.who(bearer(elsewhere, { url: "/ops/mcp" }));
    expect(proven).toEqual([good, elsewhere]);
  });

  test("is verified once, and refused when it has expired meanwhile", async () => {
    const rig = rigOf();
    const asked = bearer(await sign(key, { exp: SECONDS + 60 }));
    const known = await rig.who(asked);
    rig.time.advance(89_999);
    expect(rig.identity.authenticate(asked)).toBe(known);
    rig.time.advance(1);
    await expect(rig.who(asked)).rejects.toMatchObject({ details: { reason: "expired" } });
  });

  test("is accepted within half a minute before and after its time", async () => {
    const rig = rigOf();
    expect(await rig.who(bearer(await sign(key, { nbf: SECONDS + 29 })))).toBeDefined();
    expect(await rig.who(bearer(await sign(key, { exp: SECONDS - 29 })))).toBeDefined();
  });

  test("with a new key makes the gateway look for it, at most every ten seconds", async () => {
    const rig = rigOf();
    await rig.who(bearer(await sign(key)));
    const reads = rig.reads.length;
    rig.publish(ISSUER, nextKey.jwk);
    await expect(rig.who(bearer(await sign(nextKey)))).rejects.toMatchObject({ details: { reason: "key" } });
    expect(rig.reads).toHaveLength(reads);
    rig.time.advance(10_000);
    expect(await rig.who(bearer(await sign(nextKey, { jti: "2" })))).toBeDefined();
    expect(rig.reads.length).toBeGreaterThan(reads);
  });

  test("is refused once its key is no longer published", async () => {
    const rig = rigOf();
    const asked = bearer(await sign(key, { exp: SECONDS + 7_200 }));
    await rig.who(asked);
    rig.publish(ISSUER, nextKey.jwk);
    rig.time.advance(11 * 60_000);
    // Known keys are believed while the new ones are read.
    await rig.who(asked);
    await settle();
    rig.time.advance(6 * 60_000);
    await expect(rig.who(asked)).rejects.toMatchObject({ details: { reason: "key" } });
  });

  test("is refused with the first request after a quarter of an hour in which its key was taken back", async () => {
    const rig = rigOf();
    const asked = bearer(await sign(key, { exp: SECONDS + 7_200 }));
    await rig.who(asked);
    rig.publish(ISSUER, nextKey.jwk);
    rig.time.advance(15 * 60_000 + 1);
    await expect(rig.who(asked)).rejects.toMatchObject({ details: { reason: "key" } });
  });

  test("waits for its issuer once, and not again while that cannot be reached", async () => {
    const rig = rigOf();
    const asked = bearer(await sign(key, { exp: SECONDS + 7_200 }));
    await rig.who(asked);
    rig.published.clear();
    rig.time.advance(16 * 60_000);
    expect(await rig.who(asked)).toBeDefined();
    const hanging = Promise.withResolvers<object>();
    rig.published.set(`${ISSUER}/.well-known/oauth-authorization-server`, hanging.promise);
    rig.time.advance(60_000);
    expect(await rig.who(bearer(await sign(key, { exp: SECONDS + 7_201 })))).toBeDefined();
    hanging.resolve({});
  });

  test("is checked again while strangers wait for its issuer, and so are those of others and of the gateway", async () => {
    const rig = rigOf();
    rig.publish(OTHER_ISSUER, nextKey.jwk);
    const own = rig.addToken();
    const known = [bearer(own), bearer(await sign(key))];
    await Promise.all(known.map((asked) => rig.who(asked)));
    const hanging = Promise.withResolvers<object>();
    rig.published.set(`${ISSUER}/keys`, hanging.promise);
    rig.time.advance(5 * 60_000);
    const strangers = Array.from({ length: 1_000 }, (_, index) => rig.who(bearer(unsigned(`k${index}`))));
    await settle();
    await expect(rig.who(bearer(unsigned("another")))).rejects.toMatchObject({ code: "OVERLOADED" });
    for (const asked of known) expect(await rig.who(asked)).toBeDefined();
    expect(await rig.who(bearer(rig.addToken()))).toBeDefined();
    expect(await rig.who(bearer(await sign(nextKey, { iss: OTHER_ISSUER })))).toBeDefined();
    hanging.resolve({ keys: [key.jwk] });
    const outcomes = await Promise.allSettled(strangers);
    expect(outcomes.every(({ status }) => status === "rejected")).toBe(true);
    expect(await rig.who(bearer(await sign(key, { jti: "later" })))).toBeDefined();
  });

  test("ends with its time although the machine has slept, and with it the clock of the process", async () => {
    let sleptMs = 0;
    const time = () => rig.time.now();
    const rig: IdentityRig = rigOf({ now: () => NOW + time() - 1_000 + sleptMs });
    const asked = bearer(await sign(key, { exp: SECONDS + 60 }));
    const own = bearer(rig.addToken({ expiresAt: NOW + 60_000 }));
    await Promise.all([rig.who(asked), rig.who(own)]);
    sleptMs = 3_600_000;
    rig.tokens.isAway = true;
    await expect(rig.who(asked)).rejects.toMatchObject({ details: { reason: "expired" } });
    await expect(rig.who(own)).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
  });

  test("can be checked for an hour without the issuer, and then by nobody", async () => {
    const rig = rigOf();
    await rig.who(bearer(await sign(key)));
    rig.published.clear();
    rig.time.advance(59 * 60_000);
    expect(await rig.who(bearer(await sign(key, { exp: SECONDS + 7_200 })))).toBeDefined();
    rig.time.advance(2 * 60_000);
    const late = rig.who(bearer(await sign(key, { exp: SECONDS + 7_201 })));
    await expect(late).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
  });

  test.each([
    ["of another issuer", { issuer: "https://evil.example", jwks_uri: `${ISSUER}/keys` }],
    ["without an issuer", { jwks_uri: `${ISSUER}/keys` }],
    ["with keys in the clear", { issuer: ISSUER, jwks_uri: "http://login.example/keys" }],
    ["with keys in a file", { issuer: ISSUER, jwks_uri: "file:///etc/passwd" }],
    ["without keys", { issuer: ISSUER }],
  ])("cannot be checked with metadata %s", async (_what, metadata) => {
    const rig = rigOf();
    rig.published.set(`${ISSUER}/.well-known/openid-configuration`, metadata);
    const token = await sign(key);
    await expect(rig.who(bearer(token))).rejects.toMatchObject({ code: "STATE_UNAVAILABLE" });
    expectTrace(rig.noted, { type: "dev.isthmus.authentication_failed", why: "unavailable" }, [token]);
  });

  test.each([
    ["shared", { kty: "oct", k: "AAAA", kid: "one", alg: "HS256" }],
    ["for encryption", { use: "enc" }],
    ["private", { d: "AAAA" }],
  ])("is not checked with a key that is %s", async (_what, change) => {
    const rig = rigOf();
    rig.publish(ISSUER, { ...key.jwk, ...change });
    const token = await sign(key);
    await expect(rig.who(bearer(token))).rejects.toMatchObject({ details: { reason: "key" } });
    expectTrace(rig.noted, { type: "dev.isthmus.authentication_failed", why: "key" }, [token]);
  });

  test("must have the scopes that the gateway demands, and is told which", async () => {
    const rig = rigOf({ requiredScopes: ["mcp", "tools"] });
    const asked = bearer(await sign(key, { scope: "mcp" }));
    const error = await rig.who(asked).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "NOT_ALLOWED" });
    expectTrace(rig.noted, { type: "dev.isthmus.authentication_failed", why: "scope" });
    expect(rig.identity.challenge(asked, error)).toBe(
      `WWW-Authenticate: Bearer resource_metadata="${BASE}/.well-known/oauth-protected-resource/mcp", error="insufficient_scope", scope="mcp tools"\r\n`,
    );
    expect(await rig.who(bearer(await sign(key, { scope: "tools mcp" })))).toBeDefined();
  });
});

/** Whoever knows the name of an issuer can make such a token. */
function unsigned(kid: string): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${encode({ alg: "RS256", kid })}.${encode({ iss: ISSUER })}.AAAA`;
}

/** Lets what was begun behind somebody's back come to its end. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
