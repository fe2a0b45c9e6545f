import { type Identity, matchesPattern } from "../../contract/index.ts";
import { type Barest, barestOf } from "./by-uri.ts";
import { NOBODYS } from "./caller-rank.ts";
import { decide, matchesRule, type Question } from "./decide.ts";
import { type AccessPolicy, ANY, type Rule } from "./policy.ts";
import { idRank } from "./precedence.ts";
import { readsNoArguments } from "./settled-rules.ts";

/** Whether the platform has anything for a tenant in this: it is switched on, and somebody in the tenant could use it. */
export function isOfferedTo(policy: AccessPolicy, tenant: string, question: Question, now: number): boolean {
  if (!isOfferedAs(policy, tenant, question, now)) return false;
  if (question.kind !== "resource") return true;
  // As calls are judged: what is denied in one spelling of a URI is denied in all of them.
  const bare = bareFormOf(policy)(question);
  const isSame = bare.policy === policy && bare.question === question;
  return isSame || isOfferedAs(bare.policy, tenant, bare.question, now);
}

/** Asked about each resource of a list: a policy is brought into its barest form once. */
function bareFormOf(policy: AccessPolicy): Barest {
  const known = BAREST.get(policy);
  if (known) return known;
  const made = barestOf(policy, []);
  BAREST.set(policy, made);
  return made;
}

const BAREST = new WeakMap<AccessPolicy, Barest>();

function isOfferedAs(policy: AccessPolicy, tenant: string, question: Question, now: number): boolean {
  // Who has which scopes is not known, and what a tenant says of its own people is no secret to it.
  const platforms = { ...policy, scopes: [], tenants: new Map() };
  const holds = (rule: Rule) => rule.effect !== "deny" || isForAll(rule, tenant, question);
  const anybody = { ...ANYBODY, tenant };
  const isDeniedToAll = policy.rules.some(
    (rule) => rule.effect === "deny" && matchesRule(rule, { ...question, identity: anybody }) && holds(rule),
  );
  if (isDeniedToAll) return false;
  const mayUse = (identity: Identity) => decide(platforms, { identity }, question, { now, holds }).effect !== "deny";
  return mayUse(anybody) || namedIn(policy, tenant, question).some((names) => mayUse({ ...anybody, ...names }));
}

/** Somebody of whom nothing was said but what was said of everybody who has a user and a client. */
const ANYBODY = { user: NOBODYS, client: NOBODYS, groups: [], scopes: [], role: undefined, proof: "token" } as const;

/** Those to whom something was allowed by name, as whoever is called as a pattern says. */
function namedIn({ grants, bindings }: AccessPolicy, tenant: string, question: Question): readonly Partial<Identity>[] {
  const { server, kind, name, dotted } = question;
  const isFor = (row: { readonly tenant: string }) => row.tenant === ANY || row.tenant === tenant;
  const called = (pattern: string) => pattern.replaceAll(ANY, NOBODYS);
  const granted = grants.filter(
    (grant) =>
      grant.permission === "allow" &&
      isFor(grant) &&
      idRank(grant.server, server) !== undefined &&
      (grant.tool === "" || (kind === "tool" && grant.tool === name)),
  );
  const bound = bindings.filter((one) => one.allowed && isFor(one) && matchesPattern(one.primitive, dotted));
  return [
    ...[...new Set(granted.map(({ agent }) => agent))].map((agent) => ({ user: called(agent) })),
    ...bound.map(({ target: { type, pattern } }) =>
      type === "group" ? { groups: [called(pattern)] } : { [type]: called(pattern) },
    ),
  ];
}

/** Whether a rule holds for every call of everybody in a tenant. One that cannot be judged refuses all of them. */
function isForAll(rule: Rule, tenant: string, { dotted, server, protocol }: Question): boolean {
  const { condition } = rule;
  if (!condition) return true;
  const isByTenant = [...(condition.caller?.members ?? [])].every((member) => member === "tenant");
  if (!isByTenant || !readsNoArguments(rule)) return false;
  try {
    // Without the sign for the end of an address, which is for patterns.
    return condition.holds({ args: {}, principal: { tenant }, tool: dotted.replace("\\", ""), server, protocol });
  } catch {
    return true;
  }
}
