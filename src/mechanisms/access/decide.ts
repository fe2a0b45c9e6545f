/**
 * The one decision about a call. Pure: whatever it depends on is given to it. Each step says something or nothing; a step that
 * denies is the last one. Grants go before bindings, and both before the default; scopes and rules are asked of everybody.
 * What a tenant says of its own people is one step: it can deny what the platform allows, and allow nothing that it denies.
 */
import { type Block, type Decision, EVIDENCE, hasSegment, type Identity, type Target } from "../../contract/index.ts";
import { agentRank, targetRank } from "./caller-rank.ts";
import {
  type AccessPolicy,
  ANY,
  BINDING_TARGETS,
  type DefaultPolicy,
  type Exposure,
  type Grant,
  NO_POLICY,
  type Rule,
} from "./policy.ts";
import { foremost, idRank, patternRank, wordRank } from "./precedence.ts";

/** What a caller wants to use. */
export type Question = {
  readonly server: string;
  readonly kind: Target["kind"];
  /** The server's own name of it. */
  readonly name: string;
  /** As it stands in the list of everything. */
  readonly dotted: string;
  readonly protocol: string;
  /** Through which it is wanted; "" for everything. */
  readonly catalog: string;
};

/** Whom it is about: an identity, and what the block list says of it here. */
export type Asker = { readonly identity: Identity; readonly block?: Block | undefined };

export type Circumstances = {
  /** Everybody's time, in ms. */
  readonly now: number;
  /** Whether a rule that matches holds for this call. */
  readonly holds: (rule: Rule) => boolean;
};

export type AccessDecision = Decision & {
  /** What was decisive, where it was a grant. */
  readonly grant?: Grant;
  /** The scopes without which it is denied. */
  readonly missing?: readonly string[];
  /** It is denied, and no secret: the caller sees it, because another call of it could be allowed. */
  readonly isShown?: boolean;
  /** It is denied because its name can be read in two ways. */
  readonly isUnreadable?: boolean;
  /** Of values that complete a URI, those that the caller may have; unset: all of them. */
  readonly keeps?: (value: string) => boolean;
};

export type Step = { readonly step: StepName; readonly said: AccessDecision | undefined };

type StepName =
  | "block"
  | "exposure"
  | "primitive"
  | "grant"
  | "binding"
  | "scope"
  | "tenant"
  | "rule"
  | "default_policy";

type Case = Question & { readonly policy: AccessPolicy; readonly identity: Identity; readonly now: number };

export function decide(policy: AccessPolicy, asker: Asker, question: Question, how: Circumstances): AccessDecision {
  return conclude(preludeOf(policy, asker, question, how.now), heldRules(policy, asker, question, how));
}

/** What can be said before it is known how something is called. */
export type Prelude = {
  /** Up to the one that denies. */
  readonly steps: readonly Step[];
  readonly denied: AccessDecision | undefined;
  /** What allows it where no rule denies it. */
  readonly allowed: AccessDecision | undefined;
  /** What the tenant says that allows it, too. */
  readonly own: AccessDecision | undefined;
  /** What holds where nothing else speaks. */
  readonly fallback: AccessDecision;
};

export function preludeOf(policy: AccessPolicy, asker: Asker, question: Question, now: number): Prelude {
  const { identity, block } = asker;
  const asked: Case = { ...question, policy, identity, now };
  const steps: Step[] = [];
  const fallback = ofDefault(asked);
  const take = (step: StepName, said: AccessDecision | undefined): boolean => {
    steps.push({ step, said });
    return said?.effect === "deny";
  };
  const over = () => ({ steps, denied: steps.at(-1)?.said, allowed: undefined, own: undefined, fallback });
  if (take("block", block && { effect: "deny", source: "block", reason: `blocked: ${block.reason}` })) return over();
  if (take("exposure", ofServerSwitch(asked))) return over();
  if (take("primitive", ofPrimitiveSwitch(asked))) return over();
  const granted = ofGrants(asked);
  if (take("grant", granted)) return over();
  const bound = granted ? undefined : ofBindings(asked);
  if (take("binding", bound)) return over();
  if (take("scope", ofScopes(asked))) return over();
  const own = ofTenant(asked);
  if (own && take("tenant", own)) return over();
  return { steps, denied: undefined, allowed: granted ?? bound, own, fallback };
}

/** What all of it comes to, with the rules that hold. */
export function conclude({ denied, allowed, own, fallback }: Prelude, held: readonly Rule[]): AccessDecision {
  if (denied) return denied;
  const ruled = ofRules(held);
  if (ruled?.effect === "deny") return ruled;
  if (!allowed && fallback.effect === "deny" && !opens(held)) return fallback;
  // A rule that wants a yes opens nothing: something else has allowed what it is about.
  if (ruled?.effect === "confirm") return ruled;
  return own ?? allowed ?? ruled ?? fallback;
}

/** The same, as what each step says. */
export function takeSteps(prelude: Prelude, held: readonly Rule[]): readonly Step[] {
  const { steps, denied, allowed, fallback } = prelude;
  if (denied) return steps;
  const ruled: Step = { step: "rule", said: ofRules(held) };
  if (ruled.said?.effect === "deny") return [...steps, ruled];
  return [...steps, ruled, { step: "default_policy", said: allowed || opens(held) ? undefined : fallback }];
}

function opens(held: readonly Rule[]): boolean {
  return held.some(({ effect }) => effect === "allow");
}

export function heldRules(
  policy: AccessPolicy,
  { identity }: Asker,
  { dotted }: Question,
  { holds }: Circumstances,
): readonly Rule[] {
  return policy.rules.filter((rule) => matchesRule(rule, { dotted, identity }) && holds(rule));
}

const allow = (source: string, reason: string): AccessDecision => ({ effect: "allow", source, reason });
const deny = (source: string, reason: string): AccessDecision => ({ effect: "deny", source, reason });

/** The switches of the server itself, and of the catalog through which it is wanted. */
function ofServerSwitch(asked: Case): AccessDecision | undefined {
  const { server, catalog, protocol } = asked;
  const own = switchOf(asked, (exposure) => [wordRank(exposure.server, server)], "");
  if (own === false) return deny("exposure", `server "${server}" is switched off for ${protocol}`);
  const through = switchOf(asked, (exposure) => [exposure.server === catalog ? 1 : undefined], "");
  return through === false ? deny("exposure", `catalog "${catalog}" is switched off for ${protocol}`) : undefined;
}

function ofPrimitiveSwitch(asked: Case): AccessDecision | undefined {
  const { server, catalog, name, dotted } = asked;
  const rankOf = ({ server: place, primitive, enabled }: Exposure) => {
    // For all servers a name that looks like another's switches nothing on.
    const isOwn = place !== ANY || !enabled || !hasSegment(name);
    return [
      place === catalog ? 2 : wordRank(place, server),
      patternRank(primitive, dotted) ?? (isOwn ? patternRank(primitive, name) : undefined),
    ];
  };
  const isOn = switchOf(asked, rankOf, "primitive");
  return isOn === false ? deny("exposure", `"${dotted}" is switched off for ${asked.protocol}`) : undefined;
}

/** Undefined: nobody has touched it. Where two are equally exact, off wins. */
function switchOf(
  { policy, identity, protocol }: Case,
  rankOf: (exposure: Exposure) => readonly (number | undefined)[],
  level: "" | "primitive",
): boolean | undefined {
  const found = foremost(policy.exposures, (exposure) =>
    (exposure.primitive === "") === (level === "")
      ? [...rankOf(exposure), wordRank(exposure.protocol, protocol), wordRank(exposure.tenant, identity.tenant)]
      : [undefined],
  );
  return found.length === 0 ? undefined : found.every(({ enabled }) => enabled);
}

/** What a tenant denies to whoever made a token is about them alone. */
export function alone(identity: Identity): Identity {
  return identity.makerNames === undefined ? identity : { ...identity, makerNames: [] };
}

/** Undefined: it has said nothing about this. */
function ofTenant(asked: Case): AccessDecision | undefined {
  const own = asked.policy.tenants.get(asked.identity.tenant);
  if (!own) return undefined;
  const its: Case = { ...asked, identity: alone(asked.identity), policy: { ...NO_POLICY, ...own } };
  const said = ofServerSwitch(its) ?? ofPrimitiveSwitch(its) ?? ofGrants(its) ?? ofBindings(its) ?? ofNamedDefault(its);
  return said && { ...said, reason: `tenant "${asked.identity.tenant}" says: ${said.reason}` };
}

function ofGrants(asked: Case): AccessDecision | undefined {
  return ofGrantsOf("tool_grant", asked) ?? ofGrantsOf("server_grant", asked);
}

function ofGrantsOf(type: Grant["type"], asked: Case): AccessDecision | undefined {
  const { policy, identity, server, now } = asked;
  const found = foremost(policy.grants, (grant) => [
    grant.type === type && isCovered(grant, asked) && isAlive(grant, now) ? 0 : undefined,
    tenantMatch(grant.tenant, identity),
    agentRank(grant, identity),
    idRank(grant.server, server),
  ]);
  const grant = found.find(({ permission }) => permission === "deny") ?? found[0];
  if (!grant) return undefined;
  const what = type === "tool_grant" ? `tool "${grant.tool}" of server "${grant.server}"` : `server "${grant.server}"`;
  const reason = `${grant.permission === "allow" ? "granted" : "denied"} to agent "${grant.agent}" on ${what}`;
  return { ...(grant.permission === "allow" ? allow(type, reason) : deny(type, reason)), grant };
}

function isCovered({ type, tool }: Grant, { kind, name }: Case): boolean {
  return type === "server_grant" || (kind === "tool" && tool === name);
}

function isAlive({ expiresAt }: Grant, now: number): boolean {
  return expiresAt === undefined || now < expiresAt;
}

/** It says nothing about how exact something is: whoever runs the gateway speaks for all tenants. */
function tenantMatch(tenant: string, { tenant: own }: Identity): number | undefined {
  return tenant === ANY || tenant === own ? 0 : undefined;
}

function ofBindings({ policy, identity, dotted, protocol }: Case): AccessDecision | undefined {
  const found = foremost(policy.bindings, (binding) => [
    targetRank(binding, identity),
    BINDING_TARGETS.length - BINDING_TARGETS.indexOf(binding.target.type),
    patternRank(binding.primitive, dotted) === undefined ? undefined : 0,
    wordRank(binding.protocol, protocol) === undefined ? undefined : 0,
    tenantMatch(binding.tenant, identity),
  ]);
  const [first] = found;
  if (!first) return undefined;
  const binding = found.find(({ allowed }) => !allowed) ?? first;
  const { target, primitive } = binding;
  const reason = `a binding of ${target.type} "${target.pattern}" ${binding.allowed ? "allows" : "denies"} "${primitive}"`;
  return binding.allowed ? allow("binding", reason) : deny("binding", reason);
}

function ofScopes({ policy, identity, dotted }: Case): AccessDecision | undefined {
  const needed = policy.scopes.filter(({ match }) => patternRank(match, dotted) !== undefined);
  const missing = new Set(needed.flatMap(({ scopes }) => scopes.filter((scope) => !hasScope(identity, scope))));
  if (missing.size === 0) return undefined;
  const reason = `the token lacks the scope ${[...missing].map((scope) => `"${scope}"`).join(", ")}`;
  return { ...deny("scope", reason), missing: [...missing] };
}

export function hasScope({ scopes }: Identity, scope: string): boolean {
  return scopes.includes(scope) || scopes.includes(ANY);
}

/** Deny before confirm before allow; of several that want a yes, the one that wants the strongest. */
function ofRules(held: readonly Rule[]): AccessDecision | undefined {
  const of = (effect: Rule["effect"]) => held.filter((rule) => rule.effect === effect);
  const [denying] = of("deny");
  if (denying) return deny("rule", `rule ${denying.id} denies it`);
  const [strongest] = of("confirm").sort((one, other) => strengthOf(other) - strengthOf(one));
  if (strongest) {
    const { id, evidence } = strongest;
    return { effect: "confirm", source: "rule", reason: `rule ${id} wants somebody to say yes`, evidence };
  }
  const [allowing] = of("allow");
  return allowing && allow("rule", `rule ${allowing.id} allows it`);
}

export function matchesRule(
  { match, tenant }: Rule,
  { dotted, identity }: { dotted: string; identity: Identity },
): boolean {
  return patternRank(match, dotted) !== undefined && tenantMatch(tenant, identity) !== undefined;
}

function strengthOf({ evidence = EVIDENCE[0] }: Pick<AccessDecision, "evidence">): number {
  return EVIDENCE.indexOf(evidence);
}

/** What holds where two have to allow something. */
export function stricter(one: AccessDecision, other: AccessDecision): AccessDecision {
  if (one.effect !== other.effect) return EFFECTS.indexOf(one.effect) < EFFECTS.indexOf(other.effect) ? one : other;
  return strengthOf(other) > strengthOf(one) ? other : one;
}

const EFFECTS: readonly AccessDecision["effect"][] = ["deny", "confirm", "allow"];

function ofDefault(asked: Case): AccessDecision {
  const { policy, identity, server } = asked;
  const named = namedDefault(asked);
  if (identity.proof === "local" && named === undefined) return allow("default_policy", LOCAL_MAY);
  return byDefault(server, policy.sandboxed.has(server) ? "opt-in" : (named ?? "opt-in"));
}

const LOCAL_MAY = "no default policy is set, and the local user may then use everything";

function ofNamedDefault(asked: Case): AccessDecision | undefined {
  const named = namedDefault(asked);
  return named && byDefault(asked.server, named);
}

function namedDefault({ policy, identity, server }: Case): DefaultPolicy | undefined {
  const found = foremost(policy.defaults, (rule) => [
    wordRank(rule.server, server),
    wordRank(rule.tenant, identity.tenant),
  ]);
  return found.some((rule) => rule.policy === "opt-in") ? "opt-in" : found[0]?.policy;
}

function byDefault(server: string, inForce: DefaultPolicy): AccessDecision {
  const reason = `the default policy of server "${server}" is ${inForce}`;
  return inForce === "opt-out" ? allow("default_policy", reason) : deny("default_policy", reason);
}
