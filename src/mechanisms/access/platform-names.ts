/** Whom the platform has named: names that a tenant may not give to somebody, because they would be taken for those people. */
import { matchesPattern } from "../../contract/index.ts";
import type { AboutCaller } from "./about-caller.ts";
import { NOBODYS } from "./caller-rank.ts";
import { toForm } from "./one-form.ts";
import { type AccessPolicy, ANY, type BindingTarget, type Rule } from "./policy.ts";
import { idRank, patternRank } from "./precedence.ts";

export type NamedOne = { readonly tenant: string; readonly type: BindingTarget; readonly id: string };

/** What was said about this one, in this tenant or in all, that was not said about everybody, for people; undefined: nothing. */
export function namedByPlatform({ grants, bindings, rules }: AccessPolicy, one: NamedOne): string | undefined {
  const { tenant, type, id } = one;
  const isFor = (of: string) => of === ANY || of === tenant;
  // An agent is a user, or the client where no user is known.
  const isGranted = ({ agent }: { readonly agent: string }) => agent !== ANY && idRank(agent, id) !== undefined;
  const isBound = ({ target }: (typeof bindings)[number]) =>
    target.type === type && target.pattern !== ANY && patternRank(target.pattern, id) !== undefined;
  if (grants.some((grant) => type !== "group" && isFor(grant.tenant) && isGranted(grant))) return "a grant names it";
  if (bindings.some((binding) => isFor(binding.tenant) && isBound(binding))) return "a binding names it";
  const meant = rules.filter((rule) => isFor(rule.tenant));
  const naming = meant.find(({ condition }) => condition?.caller && mayMean(condition.caller.texts, one));
  if (naming) return `rule ${naming.id} may mean it`;
  const open = meant.find((rule) => isOpenTo(rule, type));
  return open && `rule ${open.id} allows by what callers are named, whatever that is`;
}

/**
 * Whether a text of a condition that looks at the caller could be this name, a part of it, a pattern for it, or hold it: as they are
 * written, and in the form in which functions that respell a text make no difference.
 */
function mayMean(texts: readonly string[], { tenant, type, id }: NamedOne): boolean {
  return [(text: string) => text, foldName].some((formOf) => {
    const written = texts.map(formOf).filter((text) => text !== "");
    if (written.some((text) => text !== ANY && isAbout(text, formOf(id)))) return true;
    if (type !== "user") return false;
    // The ids of tokens hold tenant and user. What fits one of any name is about the whole tenant.
    const [own, nobodys] = [id, NOBODYS].map((user) => formOf(`token:${tenant}/${user}/`));
    return written.some((text) => fits(text, own) && !fits(text, nobodys));
  });
}

function isAbout(text: string, id: string): boolean {
  return fits(text, id) || text.includes(id);
}

/** Whether the text is a part of it, or a pattern for it. */
function fits(text: string, whole = ""): boolean {
  return whole.includes(text) || matchesPattern(text, whole);
}

/** Case, blanks, what is not seen, and other forms of the same letters make no difference. */
function foldName(text: string): string {
  const upper = toForm(text, "NFKC").toLowerCase().toUpperCase();
  return toForm(upper, "NFKC").replace(/[\s\p{Cc}\p{Cf}\p{M}]/gu, "");
}

/** Which members of `principal` a name is in. What tokens are good for is bounded otherwise. */
const MEMBERS: Readonly<Record<BindingTarget, readonly string[]>> = {
  user: ["id", "user"],
  client: ["client"],
  group: ["groups"],
};

/** Whether a rule opens something to whoever has the name that a call asks for: each may be that one. */
function isOpenTo({ effect, condition }: Rule, type: BindingTarget): boolean {
  const open: AboutCaller["open"] = condition?.caller?.open ?? new Set();
  return effect === "allow" && [ANY, ...MEMBERS[type]].some((member) => open.has(member));
}
