import { describe, expect, test } from "vitest";
import type { AuthConfig } from "./auth-config.ts";
import { ConfigError } from "./config-error.ts";
import { loadConfig } from "./load-config.ts";

function load(auth: object, gateway: object = {}): AuthConfig {
  const table = { auth, gateway, database: { url: "sqlite:/tmp/x.db" } };
  return loadConfig({ table, originOf: () => undefined, files: [] }, { env: {} }).auth;
}

const claimed = (url: string) => ({ url, claims: { tenant: "org" } });

describe("[auth]", () => {
  test("gives nobody of an issuer a tenant or role unless it says so", () => {
    const { issuers, resource } = load({
      resource: "https://gw.example/",
      issuers: [{ url: "https://login.example" }],
    });
    expect(resource).toBe("https://gw.example");
    expect(issuers).toEqual([
      {
        url: "https://login.example",
        audience: [],
        tenant: "default",
        claims: { user: "sub", groups: "groups", scopes: "scope" },
      },
    ]);
  });

  test.each([{ tokens: true }, { resource: "https://gw.example", issuers: [{ url: "https://login.example" }] }])(
    "opens an address to other machines with %j",
    (auth) => {
      expect(() => load(auth, { listen: "0.0.0.0:7411" })).not.toThrow();
    },
  );

  test.each([
    { issuers: [{ url: "https://login.example", tenant: "*" }], resource: "https://gw.example" },
    { mtls: { tenant: "*" } },
  ])("puts nobody into all tenants: %j", (auth) => {
    expect(() => load(auth)).toThrow("expected the name of one tenant");
  });

  const A = "https://a.example";
  const B = "https://b.example";
  const issuer = (url: string, more: object = {}) => ({ url, ...more });
  const mtls = { gateway: { tls: { cert: "c", key: "k", clientCa: "ca" } } };

  test.each<[string, object, object?]>([
    ["two issuers that say nothing of tenants", { issuers: [issuer(A), issuer(B)] }],
    ["two issuers of one tenant", { issuers: [issuer(A, { tenant: "x" }), issuer(B, { tenant: "x" })] }],
    ["two issuers whose claims say the tenant", { issuers: [claimed(A), claimed(B)] }],
    ["one whose claims say the tenant beside one of a tenant", { issuers: [issuer(A, { tenant: "x" }), claimed(B)] }],
    ["an issuer beside certificates", { issuers: [issuer(A)], mtls: {} }, mtls.gateway],
    [
      "a third that is not among the same people",
      { issuers: [issuer(A), issuer(B), issuer(`${A}/c`)], samePeople: [A, B] },
    ],
    ["one of two among the same people", { issuers: [issuer(A), issuer(B)], samePeople: [A] }],
    ["tokens of its own beside an issuer", { issuers: [issuer(A)], tokens: true }],
    ["tokens of its own beside an issuer of another tenant", { issuers: [issuer(A, { tenant: "x" })], tokens: true }],
    ["tokens of its own beside one whose claims say the tenant", { issuers: [claimed(A)], tokens: true }],
    ["tokens of its own beside certificates", { mtls: {}, tokens: true }, mtls.gateway],
    [
      "tokens of its own beside issuers that know the same people",
      { issuers: [issuer(A), issuer(B)], samePeople: [A, B], tokens: true },
    ],
  ])("takes no %s: one name would be two people", (_what, auth, gateway) => {
    expect(() => load({ resource: "https://gw.example", ...auth }, gateway)).toThrow("would be the same person");
  });

  test.each<[string, object, object?]>([
    ["issuers of different tenants", { issuers: [issuer(A), issuer(B, { tenant: "x" })] }],
    ["one of the platform beside one whose claims say the tenant", { issuers: [issuer(A), claimed(B)] }],
    ["issuers that know the same people", { issuers: [issuer(A), issuer(B)], samePeople: [A, B] }],
    [
      "certificates that name the same people",
      { issuers: [issuer(A)], mtls: {}, samePeople: ["mtls", A] },
      mtls.gateway,
    ],
    [
      "tokens of its own for the people of an issuer",
      { issuers: [issuer(A)], samePeople: ["tokens"], tokens: true, local: true },
    ],
    [
      "tokens of its own for the people of each issuer",
      { issuers: [issuer(A), issuer(B, { tenant: "x" })], samePeople: ["tokens"], tokens: true },
    ],
  ])("takes %s", (_what, auth, gateway) => {
    expect(() => load({ resource: "https://gw.example", ...auth }, gateway)).not.toThrow("same person");
  });

  test("takes no two issuers that ids cannot tell apart, whatever they know", () => {
    const alike = { issuers: [issuer(A), issuer(`${A}/`)], samePeople: [A, `${A}/`], resource: "https://gw.example" };
    expect(() => load(alike)).toThrow("cannot be told from https://a.example");
  });

  test("takes nobody for the same people who is no source", () => {
    expect(() => load({ tokens: true, samePeople: ["https://typo.example"] })).toThrow("expected the url of an issuer");
    const auth = { issuers: [issuer(A)], resource: "https://gw.example", samePeople: ["tokens"] };
    expect(() => load(auth)).toThrow("with tokens = true");
  });

  test.each([
    "https://gw.example/?a",
    "https://gw.example/#a",
    "https://a:b@gw.example",
    "ftp://gw.example",
    "gw.example",
    'https://gw.example/"',
  ])("takes %s for no address of the gateway", (resource) => {
    expect(() => load({ resource })).toThrow(ConfigError);
  });
});
