import { describe, expect, test } from "vitest";
import { sourceOf } from "../../contract/index.ts";
import { type ClaimNames, type Claims, principalOfClaims } from "./claims.ts";

const NAMES: ClaimNames = { user: "sub", groups: "groups", scopes: "scope" };
const read = (claims: Claims, names: Partial<ClaimNames> = {}, issuer = "https://login.example") =>
  principalOfClaims({ sub: "ada", ...claims }, { issuer, tenant: "default", claims: { ...NAMES, ...names } }, 1);

describe("principalOfClaims", () => {
  test("gives nobody a role, a tenant or groups that nobody mapped", () => {
    const { identity } = read({ role: "admin", tenant: "acme", roles: ["admin"] });
    expect(identity).toMatchObject({ tenant: "default", groups: [], scopes: [], role: undefined });
  });

  test("finds nested claims, and those that are named with dots", () => {
    expect(read({ realm: { groups: ["a"] } }, { groups: "realm.groups" }).identity?.groups).toEqual(["a"]);
    expect(read({ "https://a.b/groups": ["a"] }, { groups: "https://a.b/groups" }).identity?.groups).toEqual(["a"]);
    expect(read({}, { groups: "__proto__.constructor.name" }).identity?.groups).toEqual([]);
  });

  test("takes a group with commas for one", () => {
    expect(read({ groups: "CN=a,OU=b" }).identity?.groups).toEqual(["CN=a,OU=b"]);
  });

  test("takes scopes as words, as a list, and as scp", () => {
    expect(read({ scope: "a b" }).identity?.scopes).toEqual(["a", "b"]);
    expect(read({ scope: ["a", "b"] }).identity?.scopes).toEqual(["a", "b"]);
    expect(read({ scp: "a" }).identity?.scopes).toEqual(["a"]);
  });

  test("is another principal in another tenant and at another realm of one host", () => {
    const ids = [
      read({}),
      read({ tid: "acme" }, { tenant: "tid" }),
      read({ tid: "other" }, { tenant: "tid" }),
      read({}, {}, "https://login.example/realms/a"),
      read({}, {}, "https://login.example/realms/b"),
    ].map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("is of its issuer, whatever it calls its subjects and clients", () => {
    const sources = [
      read({}),
      read({ sub: "a:b:c", azp: "d:e" }),
      read({ tid: "acme:x" }, { tenant: "tid" }),
      read({ sub: ":" }, {}, "https://login.example/"),
    ].map(sourceOf);
    expect(new Set(sources)).toEqual(new Set(["oidc:login.example"]));
    expect(sourceOf(read({ sub: "x" }, {}, "https://login.example:8443/a:b"))).toBe("oidc:login.example:8443/a:b");
  });

  test.each<[string, Claims, Partial<ClaimNames>]>([
    ["no tenant where it is mapped", {}, { tenant: "tid" }],
    ["the platform's tenant where it is mapped", { tid: "default" }, { tenant: "tid" }],
    ["all tenants", { tid: "*" }, { tenant: "tid" }],
    ["a pattern of tenants", { tid: "ac*" }, { tenant: "tid" }],
    ["the platform's tenant in other letters", { tid: "DEFAULT" }, { tenant: "tid" }],
    ["a tenant with a sign that is not seen", { tid: "acme\u200b" }, { tenant: "tid" }],
    ["a tenant that is a list", { tid: ["acme"] }, { tenant: "tid" }],
    ["the name of the local user", { sub: "local" }, {}],
    ["an address that was not shown to be theirs", { email: "a@b", email_verified: false }, { user: "email" }],
    ["one of which a text says that", { email: "a@b", email_verified: "false" }, { user: "email" }],
    ["one of which a number says that", { email: "a@b", email_verified: 0 }, { user: "email" }],
    ["one of which nothing is known", { email: "a@b", email_verified: null }, { user: "email" }],
    ["a user that is no text", { name: { first: "a" } }, { user: "name" }],
    ["more groups than anybody has", { groups: Array.from({ length: 201 }, String) }, {}],
  ])("refuses %s", (_what, claims, names) => {
    expect(() => read(claims, names)).toThrow("does not say who");
  });
});
