/**
 * The decision about a call once more, slow and obvious: every table is looked through from its most exact line to its least
 * exact one. Shares nothing with the real one but the types. What a tenant says is another such decision, in which nothing is denied
 * that nobody has said anything about; the stricter of the two counts.
 */
import type { Identity } from "../../src/contract/index.ts";
import type { AccessPolicy, Binding, Exposure, Grant, Question, Rule } from "../../src/mechanisms/access/index.ts";

export type OracleCase = {
  readonly policy: AccessPolicy;
  readonly identity: Identity;
  readonly isBlocked: boolean;
  readonly question: Question;
  readonly now: number;
  readonly holds: (rule: Rule) => boolean;
};

export type OracleSays = { readonly effect: "allow" | "deny" | "confirm"; readonly source: string };

/** `sources`: those that may be named, because each of them would have been enough. */
export function oracle(whole: OracleCase): Pick<OracleSays, "effect"> & { readonly sources: readonly string[] } {
  const asked = whole.identity.namedBy === "tenant" ? withoutNamesOfTenant(whole) : whole;
  const platform = byPlatform(asked);
  const own = asked.policy.tenants.get(asked.identity.tenant);
  const tenant = own && !asked.isBlocked ? byTenant({ ...asked, policy: { ...EMPTY, ...own } }) : undefined;
  const said = [platform, ...(tenant ? [tenant] : [])];
  const effect = (["deny", "confirm", "allow"] as const).find((one) => said.some((layer) => layer.effect === one));
  if (effect === undefined) throw new Error("nobody has said anything");
  return { effect, sources: said.filter((layer) => layer.effect === effect).map(({ source }) => source) };
}

const EMPTY: AccessPolicy = {
  ...{ grants: [], bindings: [], exposures: [], scopes: [], rules: [], defaults: [] },
  ...{ sandboxed: new Set<string>(), tenants: new Map() },
};

/** Whoever is called so by its tenant gets nothing by a name, unless the line says of which tenant it speaks. */
function withoutNamesOfTenant(whole: OracleCase): OracleCase {
  const keep = <Lines extends Pick<AccessPolicy, "grants" | "bindings">>(lines: Lines): Lines => ({
    ...lines,
    grants: lines.grants.filter(
      ({ tenant, agent, permission }) => tenant !== "*" || agent === "*" || permission === "deny",
    ),
    bindings: lines.bindings.filter(({ tenant, target, allowed }) => {
      const isForAll = target.pattern === "*" && target.type !== "group";
      return tenant !== "*" || isForAll || !allowed;
    }),
  });
  const tenants = new Map([...whole.policy.tenants].map(([id, own]) => [id, keep(own)]));
  return { ...whole, policy: { ...keep(whole.policy), tenants } };
}

function byTenant(asked: OracleCase): OracleSays | undefined {
  const { server, catalog } = asked.question;
  const isOff = isServerOff(asked, server, true) || (catalog !== "" && isServerOff(asked, catalog, false));
  if (isOff || isPrimitiveOff(asked)) return { effect: "deny", source: "exposure" };
  const granted = byGrants(asked, "tool_grant") ?? byGrants(asked, "server_grant") ?? byBindings(asked);
  if (granted) return granted;
  const isNamed = asked.policy.defaults.some(
    (line) => (line.server === "*" || line.server === server) && ofTenant(line.tenant, asked.identity),
  );
  return isNamed ? byDefault(asked) : undefined;
}

function byPlatform(asked: OracleCase): OracleSays {
  if (asked.isBlocked) return { effect: "deny", source: "block" };
  if (isServerOff(asked, asked.question.server, true)) return { effect: "deny", source: "exposure" };
  if (asked.question.catalog !== "" && isServerOff(asked, asked.question.catalog, false))
    return { effect: "deny", source: "exposure" };
  if (isPrimitiveOff(asked)) return { effect: "deny", source: "exposure" };

  const granted = byGrants(asked, "tool_grant") ?? byGrants(asked, "server_grant");
  if (granted?.effect === "deny") return granted;
  const bound = granted ? undefined : byBindings(asked);
  if (bound?.effect === "deny") return bound;

  const { policy, identity, question } = asked;
  for (const { match, scopes } of policy.scopes) {
    if (!globs(match, question.dotted)) continue;
    for (const scope of scopes) {
      if (!identity.scopes.includes(scope) && !identity.scopes.includes("*"))
        return { effect: "deny", source: "scope" };
    }
  }

  const held = policy.rules.filter(
    (rule) => globs(rule.match, question.dotted) && ofTenant(rule.tenant, identity) && asked.holds(rule),
  );
  if (held.some(({ effect }) => effect === "deny")) return { effect: "deny", source: "rule" };
  const isAllowedByRule = held.some(({ effect }) => effect === "allow");
  const wantsYes = held.some(({ effect }) => effect === "confirm");
  const ruled = isAllowedByRule ? ({ effect: "allow", source: "rule" } as const) : undefined;
  const permission = granted ?? bound ?? ruled ?? byDefault(asked);
  if (permission.effect === "deny") return permission;
  return wantsYes ? { effect: "confirm", source: "rule" } : permission;
}

function globs(pattern: string, text: string): boolean {
  const escaped = pattern.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${escaped.join("[^]*")}$`).test(text);
}

const ofTenant = (tenant: string, { tenant: own }: Identity) => tenant === "*" || tenant === own;
const ofProtocol = (protocol: string, { question }: OracleCase) => protocol === "*" || protocol === question.protocol;

/** The lines of the first class that has any. */
function firstClass<Line>(lines: readonly Line[], classes: readonly ((line: Line) => boolean)[]): readonly Line[] {
  for (const isIn of classes) {
    const found = lines.filter(isIn);
    if (found.length > 0) return found;
  }
  return [];
}

/** Every combination, the first condition counting most: (yes, yes), (yes, no), (no, yes), (no, no). */
function orders<Line>(...conditions: ((line: Line) => boolean)[]): ((line: Line) => boolean)[] {
  const [first, ...rest] = conditions;
  if (!first) return [() => true];
  const inner = orders(...rest);
  return [
    ...inner.map((isIn) => (line: Line) => first(line) && isIn(line)),
    ...inner.map((isIn) => (line: Line) => !first(line) && isIn(line)),
  ];
}

function isServerOff(asked: OracleCase, id: string, hasAny: boolean): boolean {
  const { policy, identity, question } = asked;
  const lines = policy.exposures.filter(
    (line) =>
      line.primitive === "" &&
      (line.server === id || (hasAny && line.server === "*")) &&
      ofTenant(line.tenant, identity) &&
      ofProtocol(line.protocol, asked),
  );
  const best = firstClass<Exposure>(
    lines,
    orders(
      (line) => line.server === id,
      (line) => line.protocol === question.protocol,
      (line) => line.tenant === identity.tenant,
    ),
  );
  return best.some(({ enabled }) => !enabled);
}

function isPrimitiveOff(asked: OracleCase): boolean {
  const { policy, identity, question } = asked;
  const { dotted, name, server, catalog } = question;
  const lines = policy.exposures.filter(
    (line) =>
      line.primitive !== "" &&
      (globs(line.primitive, dotted) || globs(line.primitive, name)) &&
      (line.server === "*" || line.server === server || line.server === catalog) &&
      ofTenant(line.tenant, identity) &&
      ofProtocol(line.protocol, asked),
  );
  const best = firstClass<Exposure>(
    lines,
    orders(
      (line) => line.server === catalog,
      (line) => line.server === server,
      (line) => line.primitive === dotted || line.primitive === name,
      (line) => line.primitive !== "*",
      (line) => line.protocol === question.protocol,
      (line) => line.tenant === identity.tenant,
    ),
  );
  return best.some(({ enabled }) => !enabled);
}

function byGrants({ policy, identity, question, now }: OracleCase, type: Grant["type"]): OracleSays | undefined {
  const agent = identity.user === "" ? identity.client : identity.user;
  const fits = (pattern: string, id: string) =>
    pattern === "*" || pattern === id || (pattern.endsWith(".*") && id.startsWith(pattern.slice(0, -1)));
  const lines = policy.grants.filter(
    (grant) =>
      grant.type === type &&
      ofTenant(grant.tenant, identity) &&
      (grant.expiresAt === undefined || grant.expiresAt > now) &&
      fits(grant.agent, agent) &&
      fits(grant.server, question.server) &&
      (type === "server_grant" || (question.kind === "tool" && grant.tool === question.name)),
  );
  const weight = (pattern: string, id: string) => (pattern === id ? 1e6 : pattern === "*" ? 0 : pattern.length);
  const agentWeight = Math.max(...lines.map((grant) => weight(grant.agent, agent)));
  const closest = lines.filter((grant) => weight(grant.agent, agent) === agentWeight);
  const serverWeight = Math.max(...closest.map((grant) => weight(grant.server, question.server)));
  const best = closest.filter((grant) => weight(grant.server, question.server) === serverWeight);
  if (best.length === 0) return undefined;
  return { effect: best.some(({ permission }) => permission === "deny") ? "deny" : "allow", source: type };
}

function byBindings(asked: OracleCase): OracleSays | undefined {
  const { policy, identity, question } = asked;
  const idsOf = (binding: Binding) =>
    ({ user: [identity.user], client: [identity.client], group: identity.groups })[binding.target.type].filter(Boolean);
  const lines = policy.bindings.filter(
    (binding) =>
      ofTenant(binding.tenant, identity) &&
      ofProtocol(binding.protocol, asked) &&
      globs(binding.primitive, question.dotted) &&
      idsOf(binding).some((id) => globs(binding.target.pattern, id)),
  );
  const isExact = (binding: Binding) =>
    idsOf(binding).includes(binding.target.pattern) && binding.target.pattern !== "*";
  const isPattern = (binding: Binding) => !isExact(binding) && binding.target.pattern !== "*";
  const isAny = (binding: Binding) => binding.target.pattern === "*";
  const best = firstClass<Binding>(
    lines,
    [isExact, isPattern, isAny].flatMap((isOfClass) =>
      (["user", "client", "group"] as const).map(
        (type) => (binding: Binding) => isOfClass(binding) && binding.target.type === type,
      ),
    ),
  );
  if (best.length === 0) return undefined;
  return { effect: best.some(({ allowed }) => !allowed) ? "deny" : "allow", source: "binding" };
}

function byDefault({ policy, identity, question }: OracleCase): OracleSays {
  const lines = policy.defaults.filter(
    (line) => (line.server === "*" || line.server === question.server) && ofTenant(line.tenant, identity),
  );
  const best = firstClass(
    lines,
    orders<(typeof lines)[number]>(
      (line) => line.server === question.server,
      (line) => line.tenant === identity.tenant,
    ),
  );
  const isLocal = identity.proof === "local";
  const isStrict = policy.sandboxed.has(question.server) && !(isLocal && best.length === 0);
  const isOpen = best.length === 0 ? isLocal : best.every((line) => line.policy === "opt-out");
  return { effect: isOpen && !isStrict ? "allow" : "deny", source: "default_policy" };
}
