import { describe, expect, test } from "vitest";
import { compileCondition } from "./expression.ts";
import { namedByPlatform } from "./platform-names.ts";
import { type Grant, NO_POLICY, type Rule } from "./policy.ts";

const rule = (when: string): Rule => ({
  id: "r",
  tenant: "*",
  match: "*",
  effect: "allow",
  evidence: "operator",
  condition: compileCondition(when),
});
const grant: Omit<Grant, "agent"> = {
  tenant: "*",
  type: "server_grant",
  server: "files",
  tool: "",
  permission: "allow",
  grantedBy: "config",
  grantedAt: undefined,
  expiresAt: undefined,
  justification: "",
};
const binding = { tenant: "acme", primitive: "*", protocol: "*", allowed: true };
const policy = {
  ...NO_POLICY,
  grants: [
    { ...grant, agent: "*" },
    { ...grant, agent: "bots.*" },
    { ...grant, agent: "ann", tenant: "other" },
  ],
  bindings: [
    { ...binding, target: { type: "group" as const, pattern: "ops*" } },
    { ...binding, target: { type: "client" as const, pattern: "editor" } },
  ],
  rules: [rule('principal.user.startsWith("root") || "vip" in principal.groups'), rule('args.name == "carl"')],
};
const names = (type: "user" | "client" | "group", id: string) =>
  namedByPlatform(policy, { tenant: "acme", type, id }) !== undefined;

describe("names that the platform has said something about", () => {
  test.each([
    ["user", "bots.a"],
    ["user", "root-2"],
    ["client", "bots.a"],
    ["client", "editor"],
    ["group", "ops-night"],
    ["group", "vip"],
  ] as const)("are found: %s %s", (type, id) => expect(names(type, id)).toBe(true));

  test.each([
    ["user", "ann"],
    ["user", "carl"],
    ["user", "editor"],
    ["group", "bots.a"],
    ["group", "dev"],
  ] as const)("are not %s %s, of whom others or everybody is meant", (type, id) => expect(names(type, id)).toBe(false));
});

const said = (when: string, type: "user" | "client" | "group", id: string, effect: Rule["effect"] = "allow") =>
  namedByPlatform({ ...NO_POLICY, rules: [{ ...rule(when), effect }] }, { tenant: "acme", type, id });

describe("a rule that looks at the caller", () => {
  test.each([
    ['glob(principal.id, "token:acme/deploy/*")', "user", "deploy"],
    ['glob(principal.id, "*/deploy/*")', "user", "deploy"],
    ['glob(principal.id, "token:acme/dep*")', "user", "deploy"],
    ['principal.id.contains(":acme/deploy/")', "user", "deploy"],
    ['principal.id.contains("acme/dep")', "user", "deploy"],
    ['principal.id.contains("loy/")', "user", "deploy"],
    ['!(principal.id in ["token:acme/deploy/abc"])', "user", "deploy"],
    ['principal.user == "\\u0064eploy"', "user", "deploy"],
    ['principal.client.contains("x/ci/y")', "client", "ci"],
    ['principal.user.lowerAscii() == "chief@corp.example"', "user", "Chief@corp.example"],
    ['principal.user.upperAscii() == "CHIEF@CORP.EXAMPLE"', "user", "ch\u0131ef@corp.example"],
    ['principal.user.trim().lowerAscii() in ["kim"]', "user", " \u212aim"],
    ['principal.groups.exists(g, g.lowerAscii() == "vault-admins")', "group", "Vault-Admins"],
    ['principal.groups.exists(g, g.upperAscii().startsWith("STRASSE"))', "group", "stra\u00dfe-1"],
    ['glob(principal.client.lowerAscii(), "editor-*")', "client", "EDITOR-X"],
    ['principal.id.lowerAscii().contains("/deploy/")', "user", "DEPLOY"],
    ['principal.user.upperAscii() == "CH" + "IEF"', "user", "chief"],
  ] as const)("names with %s the %s %s", (when, type, id) => {
    expect(said(when, type, id)).toBe("rule r may mean it");
    expect(said(when, type, id, "deny")).toBe("rule r may mean it");
  });

  test.each([
    ['glob(principal.id, "token:acme/*")', "user", "deploy"],
    ['principal.tenant == "acme"', "user", "deploy"],
    ['principal.tenant == args.org && args.team == "x"', "group", "payroll"],
    ['"vip" in principal.groups && args.a == args.b', "group", "payroll"],
    ["args.team in principal.groups", "user", "deploy"],
    ["args.scope in principal.scopes", "group", "payroll"],
    ['principal.user.lowerAscii() == "chief"', "user", "payroll"],
    ['args.team.substring(1) == "x" && "vip" in principal.groups', "group", "payroll"],
  ] as const)("names with %s not the %s %s", (when, type, id) => expect(said(when, type, id)).toBeUndefined());

  test.each([
    ["args.team in principal.groups", "group"],
    ["args.teams.exists(team, team in principal.groups)", "group"],
    ['principal.groups.exists(g, g == "vip" || g == tool)', "group"],
    ["args.a == 1 && (args.b == 2 || args.team in principal.groups)", "group"],
    ['principal["groups"].size() > 0', "group"],
    ["args.owner == principal.user", "user"],
    ['args.owner + "" == principal.user', "user"],
    ["args.owner == principal[args.member]", "client"],
    ["glob(principal.id, args.pattern)", "user"],
    ["args.ok ? principal.client == args.client : false", "client"],
    ['principal.user.substring(0, 1) + principal.user.substring(3) == "vip"', "user"],
    ['principal.user.split("-")[0] == "vip"', "user"],
    ['principal.groups.join("") == "vipops"', "group"],
    ['principal.groups.exists(g, g.split("-").join("") == "vip")', "group"],
    ['principal.client.split(",").exists(one, one == "editor")', "client"],
    ['(principal.user == args.owner ? "yes" : "no") == "yes"', "user"],
    ['principal.user > "m"', "user"],
  ] as const)("allows with %s whoever has the name that a call asks for: any %s", (when, type) => {
    expect(said(when, type, "payroll")).toBe("rule r allows by what callers are named, whatever that is");
    expect(said(when, type, "payroll", "deny")).toBeUndefined();
  });
});
