import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { oracle } from "../../../tests/kit/access-oracle.ts";
import type { Block, Identity } from "../../contract/index.ts";
import { decide, type Question } from "./decide.ts";
import { narrow } from "./narrow.ts";
import type { AccessPolicy, Rule } from "./policy.ts";

const NOW = 1_000;
const BLOCK = { id: "b", reason: "lost" } as Block;

const tenant = fc.constantFrom("*", "default", "acme");
const ownTenant = fc.constantFrom("default", "acme");
const agent = fc.constantFrom("*", "ann", "agent.*", "agent.a.*", "agent.a.b", "bob");
const server = fc.constantFrom("*", "files", "docs.*", "docs.a", "mail");
const pattern = fc.constantFrom("*", "files.*", "files.read", "*.read", "docs_a.*", "mail.send", "f*d");
const protocol = fc.constantFrom("*", "mcp", "a2a");

const grant = fc.record({
  tenant,
  type: fc.constantFrom("tool_grant" as const, "server_grant" as const),
  agent,
  server,
  tool: fc.constantFrom("read", "write", "send"),
  permission: fc.constantFrom("allow" as const, "deny" as const),
  grantedBy: fc.constant("ops"),
  grantedAt: fc.constant(undefined),
  justification: fc.constant(""),
  expiresAt: fc.constantFrom(undefined, NOW - 1, NOW, NOW + 1),
});
const binding = fc.record({
  tenant,
  target: fc.record({
    type: fc.constantFrom("user" as const, "client" as const, "group" as const),
    pattern: fc.constantFrom("*", "ann", "a*", "ops", "o*", "7d1f", "7d*"),
  }),
  primitive: pattern,
  protocol,
  allowed: fc.boolean(),
});
const exposure = fc.record({
  tenant,
  server: fc.constantFrom("*", "files", "docs.a", "mail", "team"),
  protocol,
  primitive: fc.constantFrom("", "", "*", "files.read", "read", "files.*"),
  enabled: fc.boolean(),
});
const rule: fc.Arbitrary<Rule> = fc.record({
  id: fc.constantFrom("r0", "r1", "r2", "r3"),
  tenant,
  match: pattern,
  effect: fc.constantFrom("allow" as const, "deny" as const, "confirm" as const),
  evidence: fc.constantFrom("session_user" as const, "operator" as const),
  condition: fc.constant(undefined),
});
const defaultRule = fc.record({
  tenant,
  server: fc.constantFrom("*", "files"),
  policy: fc.constantFrom("opt-in" as const, "opt-out" as const),
});
/** Often none at all, so that the later steps have their say; else so many that some are equally exact. */
const few = <T>(item: fc.Arbitrary<T>) =>
  fc.oneof(
    fc.constant<T[]>([]),
    fc.array(item, { minLength: 1, maxLength: 2 }),
    fc.array(item, { minLength: 6, maxLength: 12 }),
  );
const policies: fc.Arbitrary<AccessPolicy> = fc.record({
  grants: few(grant),
  bindings: few(binding),
  exposures: few(exposure),
  scopes: few(fc.record({ match: pattern, scopes: fc.subarray(["s:read", "s:write"], { minLength: 1 }) })),
  rules: few(rule),
  defaults: few(defaultRule),
  sandboxed: fc.subarray(["files", "mail"]).map((ids) => new Set(ids)),
  tenants: fc
    .dictionary(
      ownTenant,
      fc.record({ grants: few(grant), bindings: few(binding), exposures: few(exposure), defaults: few(defaultRule) }),
    )
    .map((all) => new Map(Object.entries(all))),
});
const identities: fc.Arbitrary<Identity> = fc.record(
  {
    tenant: ownTenant,
    user: fc.constantFrom("ann", "bob", "agent.a.b", "agents", ""),
    client: fc.constantFrom("7d1f", "agent.a.b", "x"),
    groups: fc.subarray(["ops", "dev"]),
    scopes: fc.subarray(["s:read", "s:write", "*"]),
    role: fc.constant(undefined),
    proof: fc.constantFrom("local" as const, "token" as const),
    namedBy: fc.constant("tenant" as const),
  },
  { requiredKeys: ["tenant", "user", "client", "groups", "scopes", "role", "proof"] },
);
const questions: fc.Arbitrary<Question> = fc
  .record({
    target: fc.constantFrom(
      { server: "files", name: "read", dotted: "files.read" },
      { server: "files", name: "write", dotted: "files.write" },
      { server: "docs.a", name: "read", dotted: "docs_a.read" },
      { server: "mail", name: "send", dotted: "mail.send" },
    ),
    kind: fc.constantFrom("tool" as const, "prompt" as const, "resource" as const),
    protocol: fc.constantFrom("mcp", "a2a"),
    catalog: fc.constantFrom("", "team"),
  })
  .map(({ target, ...rest }) => ({ ...target, ...rest }));

const cases = fc.record({
  policy: policies,
  identity: identities,
  question: questions,
  isBlocked: fc.boolean(),
  held: fc.subarray(["r0", "r1", "r2", "r3"]),
});

describe("the decision", () => {
  test("[AP-025][AP-026][AP-027][AP-028] is the oracle's, whatever the policy, the caller and the call", () => {
    fc.assert(
      fc.property(cases, ({ policy, identity, question, isBlocked, held }) => {
        const holds = ({ id }: Rule) => held.includes(id);
        const block = isBlocked ? BLOCK : undefined;
        const { effect, source } = decide(policy, { identity, block }, question, { now: NOW, holds });
        const right = oracle({ policy, identity, isBlocked, question, now: NOW, holds });
        expect(effect).toBe(right.effect);
        expect(right.sources).toContain(source);
      }),
      { numRuns: 1_000 },
    );
  });

  test("allows nobody more because of what a tenant says", () => {
    const strictness = { deny: 0, confirm: 1, allow: 2 };
    fc.assert(
      fc.property(cases, ({ policy, identity, question, held }) => {
        const how = { now: NOW, holds: ({ id }: Rule) => held.includes(id) };
        const platform = decide({ ...policy, tenants: new Map() }, { identity }, question, how);
        const both = decide(policy, { identity }, question, how);
        expect(strictness[both.effect]).toBeLessThanOrEqual(strictness[platform.effect]);
      }),
      { numRuns: 1_000 },
    );
  });

  test("allows nobody more because of what its tenant calls it, where no row names the tenant", () => {
    const strictness = { deny: 0, confirm: 1, allow: 2 };
    const isForAll = ({ tenant: of }: { readonly tenant: string }) => of === "*";
    fc.assert(
      fc.property(cases, ({ policy, identity, question, held }) => {
        const how = { now: NOW, holds: ({ id }: Rule) => held.includes(id) };
        const { grants, bindings } = policy;
        const of = {
          ...policy,
          grants: grants.filter(isForAll),
          bindings: bindings.filter(isForAll),
          tenants: new Map(),
        };
        const named = { ...identity, user: identity.user || "ann", namedBy: "tenant" as const };
        const nobody = { ...named, user: "nobody", client: "nobodys", groups: [] };
        const more = decide(of, { identity: named }, question, how);
        const less = decide(of, { identity: nobody }, question, how);
        expect(strictness[more.effect]).toBeLessThanOrEqual(strictness[less.effect]);
      }),
      { numRuns: 1_000 },
    );
  });

  test("is the same by what of the policy is about the caller, and for all callers of one key", () => {
    fc.assert(
      fc.property(cases, identities, ({ policy, identity, question, held }, other) => {
        const how = { now: NOW, holds: ({ id }: Rule) => held.includes(id) };
        const own = narrow(policy, identity);
        const whole = decide(policy, { identity }, question, how);
        expect(decide(own.policy, { identity }, question, how)).toEqual(whole);
        if (narrow(policy, other).key !== own.key) return;
        expect(decide(policy, { identity: other }, question, how)).toEqual(whole);
      }),
      { numRuns: 1_000 },
    );
  });
});
