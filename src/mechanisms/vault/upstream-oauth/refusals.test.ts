import { beforeEach, describe, expect, test } from "vitest";
import { ISSUER } from "./fixtures/fake-issuer.ts";
import { holder, OAuthRig } from "./fixtures/oauth-rig.ts";

const ANN = holder("ann");
const BOB = holder("bob");
const OWN = { clientId: "me", clientSecret: "x", issuer: ISSUER, scopes: ["read"] };
const bearer = (token: string) => `Authorization: Bearer ${token}\r\n`;
const wants = (scope: string, sent: string) =>
  ({ status: 403, challenge: `Bearer error="insufficient_scope", scope="${scope}"`, sent, isRepeat: false }) as const;
const CLIENT = "client_credentials";
const EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";

let rig: OAuthRig;

beforeEach(() => {
  rig = new OAuthRig();
  rig.issuer.hasRefresh = false;
  rig.subjects.show(ANN.principal, "anns");
  rig.subjects.show(BOB.principal, "bobs");
});

const scopesAsked = (grant: string) => rig.issuer.tokenRequests(grant).map(({ form }) => form.scope);

describe("a call that needs a scope that the gateway's own token lacks", () => {
  test("gets a wider token for all, in which the former scopes are left", async () => {
    const server = rig.create({ type: CLIENT, ...OWN });
    await server.headersFor(BOB);
    await server.refused(ANN, wants("admin", bearer("at-1")));
    expect([await server.headersFor(ANN), await server.headersFor(BOB)]).toEqual([bearer("at-2"), bearer("at-2")]);
    rig.time.advance(3600_000);
    await server.headersFor(BOB);
    expect(scopesAsked(CLIENT)).toEqual(["read", "admin read", "admin read"]);
  });

  test.each([1, 3] as const)("fails alone where the issuer does not give it (risk class %d)", async (riskClass) => {
    rig.issuer.judge = ({ scope }) => (scope?.includes("admin") ? "invalid_scope" : undefined);
    const server = rig.create({ type: CLIENT, ...OWN, riskClass });
    const sent = await server.headersFor(BOB);
    await expect(server.refused(ANN, wants("admin", sent))).rejects.toMatchObject({ code: "NOT_ALLOWED" });
    expect(await server.headersFor(BOB)).toBe(bearer(riskClass === 1 ? "at-2" : "at-1"));
    rig.time.advance(3600_000);
    expect(await server.headersFor(BOB)).toBe(bearer(riskClass === 1 ? "at-3" : "at-2"));
  });

  test("keeps nobody out when the issuer does not give any more what it gave", async () => {
    const server = rig.create({ type: CLIENT, ...OWN });
    await server.headersFor(ANN);
    await server.refused(ANN, wants("admin", bearer("at-1")));
    rig.issuer.judge = ({ scope }) => (scope?.includes("admin") ? "invalid_scope" : undefined);
    rig.time.advance(3600_000);
    expect(await server.headersFor(BOB)).toBe(bearer("at-3"));
    expect(scopesAsked(CLIENT).at(-1)).toBe("read");
  });

  test("gets what it lacks also where others want something else at the same time, and each is asked for once", async () => {
    const server = rig.create({ type: CLIENT, ...OWN });
    await server.headersFor(ANN);
    await Promise.all(["admin", "write", "admin"].map((scope) => server.refused(ANN, wants(scope, bearer("at-1")))));
    expect(scopesAsked(CLIENT)).toEqual(["read", "admin read", "admin read write"]);
    expect(await server.headersFor(ANN)).toBe(bearer("at-3"));
  });

  test("is not tried again and again with what the server does not take", async () => {
    const server = rig.create({ type: CLIENT, ...OWN });
    await server.headersFor(ANN);
    await server.refused(ANN, wants("admin", bearer("at-1")));
    const again = server.refused(ANN, { ...wants("admin", bearer("at-2")), isRepeat: true });
    await expect(again).rejects.toMatchObject({ code: "NOT_ALLOWED" });
    expect(await server.headersFor(BOB)).toBe(bearer("at-2"));
  });
});

test("what one caller needs is not asked for in an exchange for another", async () => {
  const server = rig.create({ type: "exchange", ...OWN });
  await server.headersFor(ANN);
  await server.refused(ANN, wants("admin", bearer("at-1")));
  await server.headersFor(BOB);
  expect(scopesAsked(EXCHANGE)).toEqual(["read", "admin read", "read"]);
});

test("a caller whose token cannot be exchanged is refused, and the server is not taken to be away", async () => {
  const server = rig.create({ type: "exchange", ...OWN });
  rig.issuer.judge = ({ subject_token: token }) => (token === "anns" ? "invalid_request" : undefined);
  for (const stranger of [ANN, holder("eve")])
    await expect(server.headersFor(stranger)).rejects.toMatchObject({ code: "NOT_ALLOWED" });
  expect(await server.headersFor(BOB)).toBe(bearer("at-1"));
});

test.each(["oauth", CLIENT, "exchange"] as const)("a 403 about no scope costs no token (%s)", async (type) => {
  const server = rig.create({ type, ...OWN });
  if (type === "oauth") await rig.grant(server, ANN);
  const sent = await server.headersFor(ANN);
  const refusal = { status: 403, challenge: "", sent, isRepeat: false } as const;
  await expect(server.refused(ANN, refusal)).rejects.toMatchObject({ code: "NOT_ALLOWED" });
  expect([sent, await server.headersFor(ANN)]).toEqual([bearer("at-1"), bearer("at-1")]);
});

test("a late 401 does not cost the token that has replaced the refused one", async () => {
  const server = rig.create({ type: CLIENT, ...OWN });
  await server.headersFor(ANN);
  const refusal = { status: 401, challenge: "Bearer", sent: bearer("at-1"), isRepeat: false } as const;
  await server.refused(ANN, refusal);
  expect(await server.headersFor(ANN)).toBe(bearer("at-2"));
  await server.refused(BOB, refusal);
  expect(await server.headersFor(BOB)).toBe(bearer("at-2"));
});

test("a late refusal of a token that was widened meanwhile, by whomever, is tried with the wider one", async () => {
  const [here, there] = [rig.create(), rig.create()];
  rig.issuer.scope = "read";
  await rig.grant(there, ANN);
  expect(await here.headersFor(ANN)).toBe(bearer("at-1"));
  const error = await there.refused(ANN, wants("write", bearer("at-1"))).catch((thrown) => thrown);
  await rig.desk.finish(await rig.open(String(error.details.url)), "browser");
  await here.refused(ANN, wants("write", bearer("at-1")));
  expect(await here.headersFor(ANN)).toBe(bearer("at-2"));
});
