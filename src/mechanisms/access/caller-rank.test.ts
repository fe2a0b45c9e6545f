import { describe, expect, test } from "vitest";
import type { Identity } from "../../contract/index.ts";
import { holdsFor, unnamed } from "./caller-rank.ts";
import { compileCondition } from "./expression.ts";
import type { Rule } from "./policy.ts";

const identity: Identity = {
  ...{ tenant: "acme", user: "payroll-bot", client: "ci", groups: ["payroll"], scopes: ["read"], role: undefined },
  ...{ proof: "token", tokenHash: "7d1f", namedBy: "tenant" },
};
const { tenant, user, client, groups, scopes } = identity;
const principal = { id: "token:acme/payroll-bot/7d1f", tenant, user, client, groups, scopes };
const args = { team: "payroll", owner: "payroll-bot" };

function holds(when: string, { effect = "allow", ...row }: Partial<Rule> = {}, of = identity): boolean {
  const condition = compileCondition(when);
  const rule: Rule = { id: "r", tenant: "*", match: "*", effect, evidence: "operator", condition, ...row };
  return holdsFor(rule, { args, principal, unnamed: unnamed(principal, of), tool: "t", server: "s", protocol: "mcp" });
}

const BY_NAME = [
  '"payroll" in principal.groups',
  "args.team in principal.groups",
  "principal.groups.size() > 0",
  'principal.user.startsWith("payroll")',
  "principal.user.size() > 3",
  "args.owner == principal.user",
  'glob(principal.id, "*/payroll-bot/*")',
  'principal.client == "ci"',
];

describe("a rule of the platform, for whom a tenant has named", () => {
  test.each(BY_NAME)("allows nothing by %s", (when) => {
    expect(holds(when)).toBe(false);
    expect(holds(when, {}, { ...identity, namedBy: undefined as never })).toBe(true);
  });

  test.each(BY_NAME)("allows by %s where it names the tenant", (when) => expect(holds(when, { tenant })).toBe(true));

  test.each(BY_NAME)("denies, and wants a yes, by %s and by its opposite, whatever the tenant", (when) => {
    for (const effect of ["deny", "confirm"] as const) {
      for (const of of ["*", tenant]) {
        expect(holds(when, { effect, tenant: of })).toBe(true);
        expect(holds(`!(${when})`, { effect, tenant: of })).toBe(true);
      }
    }
  });

  test.each([
    'principal.tenant == "acme"',
    '"read" in principal.scopes',
    'principal.id.startsWith("token:acme")',
    'args.team == "payroll"',
    'principal.user != ""',
  ])("allows by %s, which no tenant has said", (when) => {
    expect(holds(when)).toBe(true);
    expect(holds(`!(${when})`, { effect: "deny" })).toBe(false);
  });

  test("takes a client that is the token itself for what it is", () => {
    const own = { ...principal, client: "7d1f" };
    expect(unnamed(own, { ...identity, client: "7d1f" })).toMatchObject({ client: "7d1f", groups: [] });
  });
});
