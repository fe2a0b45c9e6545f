import { describe, expect, test } from "vitest";
import { compileCondition } from "./expression.ts";
import { isOfferedTo } from "./offered-to.ts";
import { type AccessPolicy, type Binding, type Grant, NO_POLICY, type Rule } from "./policy.ts";

const NOW = 1_000;
const QUESTION = {
  server: "pay",
  kind: "tool",
  name: "send",
  dotted: "pay.send",
  protocol: "mcp",
  catalog: "",
} as const;
const OPEN = { defaults: [{ tenant: "*", server: "*", policy: "opt-out" }] } as const;

const grant = (agent: string, permission: Grant["permission"], more: Partial<Grant> = {}): Grant => ({
  tenant: "*",
  type: more.tool ? "tool_grant" : "server_grant",
  agent,
  server: "pay",
  tool: "",
  permission,
  grantedBy: "ops",
  grantedAt: undefined,
  expiresAt: undefined,
  justification: "",
  ...more,
});
const binding = (type: Binding["target"]["type"], pattern: string, allowed: boolean): Binding => ({
  tenant: "*",
  target: { type, pattern },
  primitive: "pay.*",
  protocol: "*",
  allowed,
});
const rule = (effect: Rule["effect"], when?: string): Rule => ({
  id: "r",
  tenant: "*",
  match: "pay.*",
  effect,
  evidence: "operator",
  condition: when === undefined ? undefined : compileCondition(when),
});

describe("what is offered to a tenant", () => {
  test.each<[string, boolean, Partial<AccessPolicy>]>([
    ["nothing was said", false, {}],
    ["it is open to all", true, OPEN],
    ["it is denied to every user", false, { ...OPEN, bindings: [binding("user", "*", false)] }],
    ["it is denied to whoever has a group", true, { ...OPEN, bindings: [binding("group", "*", false)] }],
    ["it is allowed to a group", true, { bindings: [binding("group", "vip-*", true)] }],
    ["it is denied to all but one", true, { bindings: [binding("user", "*", false), binding("user", "ann", true)] }],
    ["it is granted to some", true, { grants: [grant("*", "deny"), grant("team.*", "allow")] }],
    ["what was granted is over", false, { grants: [grant("ann", "allow", { expiresAt: NOW })] }],
    [
      "the tool is denied to all, whoever has the server",
      false,
      {
        grants: [grant("*", "deny", { tool: "send" }), grant("ann", "allow")],
      },
    ],
    ["another tenant has it", false, { grants: [grant("ann", "allow", { tenant: "globex" })] }],
    ["a rule may allow it", true, { rules: [rule("allow", "principal.user == 'ann'")] }],
    ["a rule denies it", false, { ...OPEN, grants: [grant("ann", "allow")], rules: [rule("deny")] }],
    ["a rule denies it to the tenant", false, { ...OPEN, rules: [rule("deny", "principal.tenant == 'acme'")] }],
    ["a rule denies it to another", true, { ...OPEN, rules: [rule("deny", "principal.tenant == 'globex'")] }],
    ["a rule denies it to some", true, { ...OPEN, rules: [rule("deny", "principal.user != 'ann'")] }],
    ["a rule denies it with some arguments", true, { ...OPEN, rules: [rule("deny", "args.sum > 5")] }],
    ["a rule wants a yes", true, { ...OPEN, rules: [rule("confirm")] }],
    ["a rule cannot be judged, whoever calls", false, { ...OPEN, rules: [rule("deny", "principal.tenant > 5")] }],
  ])("where %s: %j", (_when, isOffered, said) => {
    expect(isOfferedTo({ ...NO_POLICY, ...said }, "acme", QUESTION, NOW)).toBe(isOffered);
  });
});

describe("whether a tenant is offered a resource", () => {
  const uri = "file:///docs/pay%20roll.txt";
  const asked = { ...QUESTION, kind: "resource", name: uri, dotted: `pay.${uri}` } as const;
  test.each([
    [uri, false],
    ["file:///docs/pay roll.txt", false],
    ["file:///docs/pay%20roll.txt.", false],
    ["file:///docs/pay roll*", false],
    ["file:///docs/pub.txt", true],
  ])("is asked as calls are judged, where %s is denied", (denied, isOffered) => {
    const row = { ...binding("user", "*", false), primitive: `pay.${denied}`, tenant: "acme" };
    expect(isOfferedTo({ ...NO_POLICY, ...OPEN, bindings: [row] }, "acme", asked, NOW)).toBe(isOffered);
    const exposure = { tenant: "*", server: "pay", protocol: "*", primitive: denied, enabled: false };
    expect(isOfferedTo({ ...NO_POLICY, ...OPEN, exposures: [exposure] }, "acme", asked, NOW)).toBe(isOffered);
    const denying = { ...rule("deny"), match: `pay.${denied}` };
    expect(isOfferedTo({ ...NO_POLICY, ...OPEN, rules: [denying] }, "acme", asked, NOW)).toBe(isOffered);
  });
});
