import { describe, expect, test } from "vitest";
import type { AuthConfig } from "./auth-config.ts";
import { ConfigError } from "./config-error.ts";
import { loadConfig } from "./load-config.ts";

function load(auth: object, gateway: object = {}): AuthConfig {
  const table = { auth, gateway, database: { url: "sqlite:/tmp/x.db" } };
  return loadConfig({ table, originOf: () => undefined, files: [] }, { env: {} }).auth;
}

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
