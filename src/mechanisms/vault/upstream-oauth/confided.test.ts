import { beforeEach, describe, expect, test } from "vitest";
import { ISSUER } from "./fixtures/fake-issuer.ts";
import { holder, OAuthRig, refusal } from "./fixtures/oauth-rig.ts";

const ANN = holder("ann");
const OWN = { clientId: "me", clientSecret: "operators-secret" };
const RESOURCE = "https://crm.example/.well-known/oauth-protected-resource/mcp";
const METADATA = `${ISSUER}/.well-known/oauth-authorization-server`;
const bearer = (token: string) => `Authorization: Bearer ${token}\r\n`;

let rig: OAuthRig;

beforeEach(() => {
  rig = new OAuthRig();
  rig.subjects.show(ANN.principal, "anns");
});

/** The server says that it is its own issuer. */
function nameItself(): void {
  rig.issuer.documents[RESOURCE] = {
    resource: "https://crm.example/mcp",
    authorization_servers: ["https://crm.example"],
  };
  rig.issuer.documents["https://crm.example/.well-known/oauth-authorization-server"] = {
    issuer: "https://crm.example",
    authorization_endpoint: "https://crm.example/authorize",
    token_endpoint: "https://crm.example/steal",
    registration_endpoint: "https://crm.example/register",
    code_challenge_methods_supported: ["S256"],
  };
}

const grants = () => rig.issuer.asked.filter(({ form }) => form.grant_type !== undefined);

describe("what the operator or a caller has in confidence", () => {
  test.each(["exchange", "client_credentials"] as const)(
    "goes to no issuer that the server has chosen (%s)",
    async (type) => {
      nameItself();
      const chosen = rig.create({ type, ...OWN });
      await expect(chosen.headersFor(ANN)).rejects.toMatchObject({ message: expect.stringContaining("issuer") });
      const bound = rig.create({ type, ...OWN, issuer: ISSUER });
      await expect(bound.headersFor(ANN)).rejects.toMatchObject({ message: expect.stringContaining("issuer") });
      expect(grants()).toEqual([]);
    },
  );

  test("nor when somebody signs in", async () => {
    const server = rig.create(OWN);
    const { details } = await refusal(server, ANN);
    await expect(rig.open(String(details.url))).rejects.toThrow("issuer");
  });

  test("goes nowhere where nobody publishes who takes it", async () => {
    rig.issuer.documents[RESOURCE] = {};
    rig.issuer.statuses[RESOURCE] = 404;
    rig.issuer.statuses[METADATA] = 404;
    const server = rig.create({ type: "client_credentials", ...OWN, issuer: ISSUER });
    await expect(server.headersFor(ANN)).rejects.toMatchObject({ message: expect.stringContaining("no metadata") });
    expect(grants()).toEqual([]);
  });

  test("does not follow a client to another issuer than the config names now", async () => {
    await rig.grant(rig.create({ ...OWN, issuer: ISSUER }), ANN);
    const moved = rig.create({ ...OWN, issuer: "https://next.example" });
    rig.time.advance(3600_000);
    expect(await moved.headersFor(ANN)).toBe("");
    expect(rig.issuer.tokenRequests("refresh_token")).toEqual([]);
  });
});

describe("metadata", () => {
  test.each([
    [500, RESOURCE],
    [503, RESOURCE],
    [429, RESOURCE],
    [403, RESOURCE],
    [503, METADATA],
    [401, METADATA],
  ])("that is answered with %d at %s is not taken for metadata that is not there", async (status, url) => {
    rig.issuer.statuses[url] = status;
    const { details } = await refusal(rig.create(), ANN);
    await expect(rig.open(String(details.url))).rejects.toThrow(`HTTP ${status}`);
  });

  test("may be at the next place where one turns us away", async () => {
    rig.issuer.documents[`${ISSUER}/.well-known/openid-configuration`] = rig.issuer.documents[METADATA] ?? {};
    rig.issuer.statuses[METADATA] = 400;
    const server = rig.create();
    await rig.grant(server, ANN);
    expect(await server.headersFor(ANN)).toBe(bearer("at-1"));
  });

  test("need not be there for a server of 2025-03-26, to which nothing is confided", async () => {
    rig.issuer.statuses[RESOURCE] = 410;
    const { details } = await refusal(rig.create(), ANN);
    await rig.open(String(details.url));
    expect(rig.issuer.asked.map(({ url }) => url)).toContain("https://crm.example/register");
  });
});

describe("a token that was kept", () => {
  test.each(["https://evil.example/mcp", "https://crm.example/other", "http://crm.example/mcp"])(
    "is nothing to a server of the same name at %s, and is not refreshed for it",
    async (url) => {
      await rig.grant(rig.create(), ANN);
      const other = rig.create({ url: new URL(url) });
      expect(await other.headersFor(ANN)).toBe("");
      rig.time.advance(3600_000);
      expect(await other.headersFor(ANN)).toBe("");
      expect(rig.issuer.tokenRequests("refresh_token")).toEqual([]);
      expect(await rig.create().headersFor(ANN)).toBe(bearer("at-2"));
    },
  );

  test("is the server's own at another path of what it is for", async () => {
    Object.assign(rig.issuer.documents[RESOURCE] ?? {}, { resource: "https://crm.example" });
    await rig.grant(rig.create(), ANN);
    expect(await rig.create({ url: new URL("https://crm.example/v2/mcp") }).headersFor(ANN)).toBe(bearer("at-1"));
  });

  test("outlives a secret that somebody has mistyped", async () => {
    const server = rig.create({ ...OWN, issuer: ISSUER });
    await rig.grant(server, ANN);
    rig.time.advance(3600_000);
    rig.issuer.answer = { error: "invalid_client" };
    await expect(server.headersFor(ANN)).rejects.toMatchObject({ code: "PROVIDER_UNREACHABLE" });
    rig.issuer.answer = "tokens";
    expect(await server.headersFor(ANN)).toBe(bearer("at-2"));
  });

  test("is worth nothing when its issuer has forgotten the client that registered itself for it", async () => {
    const server = rig.create();
    await rig.grant(server, ANN);
    rig.time.advance(3600_000);
    rig.issuer.answer = { error: "invalid_client" };
    expect(await server.headersFor(ANN)).toBe("");
    expect(await rig.rows.find({}, 0, 9)).toEqual([]);
  });
});
