/**
 * How exactly a row names a caller. What a tenant's admin calls others is the tenant's word: whatever the platform allows by name in
 * all tenants is not for them, or every name that it will ever speak of could be taken before. What it denies is for everybody.
 */
import type { CallerNames, Identity } from "../../contract/index.ts";
import { ANY, type Binding, type Grant, type Rule, type RuleFacts } from "./policy.ts";
import { idRank, patternRank } from "./precedence.ts";

/** Whom MGP calls the agent: the user, or the client where a program acts for nobody. */
export function agentOf({ user, client }: Pick<Identity, "user" | "client">): string {
  return user === "" ? client : user;
}

/** Undefined: it is not about this caller. */
export function agentRank({ tenant, agent, permission }: Grant, identity: Identity): number | undefined {
  if (permission === "allow" && agent !== ANY && !isTakenAtItsWord(identity, tenant)) return undefined;
  const ranks = [identity, ...(permission === "deny" ? makersOf(identity) : [])].map((one) =>
    idRank(agent, agentOf(one)),
  );
  return highest(ranks);
}

/** What is denied to those who made a token is denied to it. */
function makersOf({ makerNames = [] }: Identity): readonly CallerNames[] {
  return makerNames;
}

function highest(ranks: readonly (number | undefined)[]): number | undefined {
  return ranks.reduce((best, rank) => (best === undefined || (rank ?? -1) > best ? rank : best), undefined);
}

/** Of the groups the one that is matched most exactly. Undefined: it is not about this caller. */
export function targetRank({ tenant, target, allowed }: Binding, identity: Identity): number | undefined {
  const { type, pattern } = target;
  // Not everybody has a group: whoever gives one gives something.
  const isByName = pattern !== ANY || type === "group";
  if (allowed && isByName && !isTakenAtItsWord(identity, tenant)) return undefined;
  // Where nobody named the client its token stands for it: that is found by no pattern, or whoever makes tokens makes one that fits.
  const isToken =
    type === "client" && pattern !== ANY && pattern !== identity.client && identity.client === identity.tokenHash;
  const meant = [...(isToken ? [] : [identity]), ...(allowed ? [] : makersOf(identity))];
  const ids = meant.flatMap(({ user, client, groups }) =>
    type === "user" ? [user] : type === "client" ? [client] : groups,
  );
  return highest(ids.filter((id) => id !== "").map((id) => patternRank(pattern, id)));
}

/** A row that names the tenant is about those whom the tenant calls so. */
function isTakenAtItsWord({ namedBy }: Identity, tenant: string): boolean {
  return namedBy !== "tenant" || tenant !== ANY;
}

/** A name that nobody speaks of; no control character, with which no path or id can be judged. */
export const NOBODYS = "\u{10ffff}";

/** The caller without what its tenant calls it, as conditions see it; undefined: the platform has named it. */
export function unnamed(
  principal: RuleFacts["principal"],
  { tenant, user, client, namedBy, tokenHash }: Identity,
): RuleFacts["principal"] | undefined {
  if (namedBy !== "tenant") return undefined;
  const id = String(principal.id).replace(`${tenant}/${user}/`, () => `${tenant}/${NOBODYS}/`);
  return { ...principal, id, user: NOBODYS, client: client === tokenHash ? client : NOBODYS, groups: [] };
}

/** Those who made its token, as conditions see them; whoever is good for everything is good for what it gives away. */
export function makersFor(principal: RuleFacts["principal"], identity: Identity): readonly RuleFacts["principal"][] {
  return makersOf(identity).map(({ tokenHash: _, ...names }) => {
    const scopes = names.scopes.includes(ANY) ? [...names.scopes, ...identity.scopes] : names.scopes;
    return { ...principal, ...names, scopes };
  });
}

/**
 * Whether a rule holds for a call: what denies or wants a yes if it does with the caller's names, without those that its tenant
 * gave, or with those of whoever made its token; what allows with all of them.
 */
export function holdsFor({ tenant, effect, condition }: Rule, facts: RuleFacts): boolean {
  if (!condition) return true;
  const isHeld = condition.holds(facts);
  const { unnamed: without, makers = [] } = facts;
  if ((!without && makers.length === 0) || !condition.caller) return isHeld;
  if (effect === "allow" && tenant !== ANY) return isHeld;
  const others = without ? [without, ...makers] : makers;
  const isHeldFor = (principal: RuleFacts["principal"]) => condition.holds({ ...facts, principal });
  return effect === "allow" ? isHeld && others.every(isHeldFor) : isHeld || others.some(isHeldFor);
}
