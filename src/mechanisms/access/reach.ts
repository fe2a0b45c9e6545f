/** What callers may reach who may do the same: decided once for each primitive, and looked up from then on. */
import type { Block, FoundTarget, Identity, Principal, Reach, Target } from "../../contract/index.ts";
import { blockFor } from "./blocks-about.ts";
import { fitsOneOf } from "./by-template.ts";
import { type Barest, barestOf, FORM, type PolicyQuestion, rowsOf, unreadable } from "./by-uri.ts";
import {
  type AccessDecision,
  type Asker,
  conclude,
  matchesRule,
  type Prelude,
  preludeOf,
  type Question,
  stricter,
} from "./decide.ts";
import { uriFault } from "./plain-path.ts";
import { type AccessPolicy, ANY, type Rule, type RuleFacts } from "./policy.ts";
import { settleRules } from "./settled-rules.ts";

/** A name that looks like one under a segment. */
const SEGMENTED = "a.a";

export type ReachParts = {
  readonly key: string;
  /** What of the policy is about these callers. */
  readonly policy: AccessPolicy;
  /** Of one of them: in all that matters here they are alike. */
  readonly identity: Identity;
  readonly blocks: readonly Block[];
  readonly protocol: string;
  readonly conceals: boolean;
  /** What rules know of a call of one of them, but for its arguments. */
  readonly factsOf: (question: Question) => RuleFacts;
  /** Everybody's time, in ms. */
  readonly now: () => number;
  readonly dottedOf: (target: Target) => string;
  readonly onRefused: (refusal: Refusal) => void;
};

/** Somebody wanted what they may not see. */
export type Refusal = {
  readonly principal: Principal;
  readonly target: Target;
  readonly decision: AccessDecision;
  readonly protocol: string;
};

/** What is known about a primitive before anybody calls it. */
export type Judged = {
  readonly question: Question;
  readonly prelude: Prelude;
  /** As far as it does not depend on arguments. */
  readonly decision: AccessDecision;
  /** Rules that hold for every call. */
  readonly unconditional: readonly Rule[];
  /** Rules that have to look at the call itself. */
  readonly conditional: readonly Rule[];
  readonly isVisible: boolean;
  /** A rule that reads no arguments cannot be judged, and so every call is refused. */
  readonly isFaulty: boolean;
  /** The same by another spelling of its name, which some servers take for it. */
  readonly otherwise?: Judged;
};

/** All that something is judged by: itself, in each spelling, and templates. */
export type JudgedBy = readonly [Judged, ...Judged[]];

/** What it is decided by whether something is shown. */
type Looked = PolicyQuestion & {
  readonly prelude: Prelude;
  readonly canBeRuled: boolean;
};

export class LiveReach implements Reach {
  readonly key: string;
  /** A method that nobody here knows cannot be judged. */
  readonly hasRaw = false;
  readonly conceals: boolean;
  readonly #parts: ReachParts;
  readonly #judged = new WeakMap<Target, Judged>();
  /** The same for each catalog that has a switch: only that makes a difference. */
  readonly #judgedIn: ReadonlyMap<string, WeakMap<Target, Judged>>;
  readonly #providers = new Map<string, boolean>();
  readonly #byUri = new Map<string, boolean>();
  /** Unset until it is asked for. */
  #barest: Barest | undefined;

  constructor(parts: ReachParts) {
    this.key = parts.key;
    this.conceals = parts.conceals;
    this.#parts = parts;
    this.#judgedIn = new Map(rowsOf(parts.policy).exposures.map(({ server }) => [server, new WeakMap()]));
  }

  reaches(found: FoundTarget, catalog: string): boolean {
    return this.judgedBy(found, catalog).every(({ isVisible }) => isVisible);
  }

  hears(found: FoundTarget, catalog: string): boolean {
    return this.judgedBy(found, catalog).every(({ isVisible, isFaulty, decision: { effect, source } }) => {
      return isVisible && !isFaulty && (effect !== "deny" || (source !== "scope" && source !== FORM));
    });
  }

  refused(found: FoundTarget, catalog: string, by: Principal): void {
    const { target } = found;
    const decision = strictest(this.judgedBy(found, catalog));
    this.#parts.onRefused({ principal: by, target, decision, protocol: this.#parts.protocol });
  }

  /** All that was found is judged by, itself first: each of them has to let it through. */
  judgedBy({ target, template, templates = [] }: FoundTarget, catalog: string): JudgedBy {
    const own = this.judged(target, catalog);
    if (target.kind !== "resource") return [own];
    const otherwise = own.otherwise ? [own.otherwise] : [];
    const closed = this.closedAmong(templates, catalog);
    const fitting = closed.length === 0 ? closed : closed.filter(fitsOneOf(target.name));
    const by = template && !fitting.includes(template) ? [template, ...fitting] : fitting;
    return [own, ...otherwise, ...by.map((one) => this.judged(one, catalog))];
  }

  /** Those of these templates that do not let everything through: mostly none, and a URI need not be held against the others. */
  closedAmong(templates: readonly Target[], catalog: string): readonly Target[] {
    return templates.filter((template) => {
      const { decision, conditional, isVisible, isFaulty } = this.judged(template, catalog);
      return decision.effect !== "allow" || conditional.length > 0 || !isVisible || isFaulty;
    });
  }

  judged(target: Target, catalog: string): Judged {
    const all = this.#judgedIn.get(catalog) ?? this.#judged;
    const known = all.get(target);
    if (known) return known;
    const judged = this.#judge(target, catalog);
    all.set(target, judged);
    return judged;
  }

  #judge(target: Target, catalog: string): Judged {
    const question = this.#questionOf(target, catalog);
    const { policy, blocks } = this.#parts;
    const asked: PolicyQuestion = { policy, blocks, question };
    if (target.kind !== "resource" || !this.decidesByUri(target.provider)) return this.#judgeBy(asked);
    const fault = uriFault(target.name);
    if (fault !== undefined) return unreadable(question, fault);
    // As it is written, and without escapes and what else servers drop: they read it in the one or the other way.
    const written = this.#judgeBy(asked);
    this.#barest ??= barestOf(policy, blocks);
    const bare = this.#barest(question);
    if (bare.question === question && bare.policy === policy && bare.blocks === blocks) return written;
    const otherwise = this.#judgeBy(bare);
    const { reason } = otherwise.decision;
    // It is spoken of as it was written.
    const decision = { ...otherwise.decision, reason: reason.replace(bare.question.dotted, () => question.dotted) };
    return { ...written, otherwise: { ...otherwise, decision } };
  }

  /** Whether something was said about a part of what this server offers by its URIs. */
  decidesByUri(provider: string): boolean {
    const known = this.#byUri.get(provider);
    if (known !== undefined) return known;
    const decides = this.#uriPatterns(provider);
    this.#byUri.set(provider, decides);
    return decides;
  }

  #uriPatterns(provider: string): boolean {
    const { start, patterns } = this.patternsAbout(provider);
    if (patterns.some((pattern) => pattern !== ANY && pattern !== `${start}*` && /[:*{]/.test(pattern))) return true;
    // A rule for all of them that reads their name decides by how they are spelled.
    return this.#parts.policy.rules.some(
      (rule) => (rule.match === ANY || rule.match === `${start}*`) && readsName(rule),
    );
  }

  /** What was said about names, and what those of this server begin with in it. */
  patternsAbout(provider: string): { readonly start: string; readonly patterns: readonly string[] } {
    const { policy, blocks, dottedOf } = this.#parts;
    const { bindings, exposures } = rowsOf(policy);
    const patterns = [
      ...bindings.map(({ primitive }) => primitive),
      ...exposures.map(({ primitive }) => primitive),
      ...policy.scopes.map(({ match }) => match),
      ...policy.rules.map(({ match }) => match),
      ...blocks.map(({ primitive }) => primitive),
    ];
    return { start: dottedOf({ provider, kind: "resource", name: "" }), patterns };
  }

  #judgeBy(asked: PolicyQuestion): Judged {
    const { policy, question } = asked;
    const { identity, now } = this.#parts;
    const { dotted } = question;
    const rules = policy.rules.filter((rule) => matchesRule(rule, { dotted, identity }));
    const {
      held: unconditional,
      open: conditional,
      isFaulty,
    } = settleRules(rules, () => this.#parts.factsOf(question));
    const prelude = preludeOf(policy, this.#askerFor(asked), question, now());
    const decision = conclude(prelude, unconditional);
    const canBeRuled = conditional.some(({ effect }) => effect === "allow");
    const isVisible = this.#isVisible({ ...asked, prelude, canBeRuled }, unconditional);
    const isShown = isVisible && decision.effect === "deny";
    const said = isShown ? { ...decision, isShown } : decision;
    return { question, prelude, decision: said, unconditional, conditional, isVisible, isFaulty };
  }

  /** What could still be allowed is shown: by what it is called with, or by a token that is good for more. */
  #isVisible(looked: Looked, held: readonly Rule[]): boolean {
    const { policy, question, prelude, canBeRuled } = looked;
    const { effect, source } = conclude(prelude, held);
    if (effect !== "deny") return true;
    // No rule opens what was denied before the rules were asked.
    if (source === "default_policy") return canBeRuled && !prelude.denied;
    if (source !== "scope") return false;
    const unscoped = { ...policy, scopes: [] };
    const otherwise = preludeOf(unscoped, this.#askerFor(looked), question, this.#parts.now());
    return this.#isVisible({ ...looked, policy: unscoped, prelude: otherwise }, held);
  }

  #askerFor({ blocks, question }: PolicyQuestion): Asker {
    const { identity, now } = this.#parts;
    const block = blocks.length === 0 ? undefined : blockFor(blocks, question, now());
    return { identity, block };
  }

  #questionOf(target: Target, catalog: string): Question {
    const { provider, kind, name } = target;
    const { protocol, dottedOf } = this.#parts;
    return { server: provider, kind, name, dotted: dottedOf(target), protocol, catalog };
  }

  reachesProvider(provider: string, catalog: string): boolean {
    const key = this.#judgedIn.has(catalog) ? `${catalog} ${provider}` : ` ${provider}`;
    const known = this.#providers.get(key);
    if (known !== undefined) return known;
    const { policy, blocks } = this.#parts;
    const isReached = this.#probes(provider).some((target) => {
      return this.#judgeBy({ policy, blocks, question: this.#questionOf(target, catalog) }).isVisible;
    });
    this.#providers.set(key, isReached);
    return isReached;
  }

  /** A name that nobody has stands for all that nothing was said about; then come those that something was said about. */
  #probes(provider: string): readonly Target[] {
    const { policy, dottedOf } = this.#parts;
    const of = (kind: Target["kind"], name: string): Target => ({ provider, kind, name });
    // A server without a prefix has some names as they are, and some behind its id.
    const starts = ["", SEGMENTED].map((name) => {
      const dotted = dottedOf(of("resource", name));
      return dotted.slice(0, dotted.length - name.length);
    });
    const own = (dotted: string) =>
      [...new Set(starts)].map((start) => (dotted.startsWith(start) ? dotted.slice(start.length) : dotted));
    const { grants, bindings, exposures } = rowsOf(policy);
    const named = [
      ...bindings.map(({ primitive }) => primitive),
      ...policy.rules.map(({ match }) => match),
      ...exposures.map(({ primitive }) => primitive).filter((primitive) => primitive !== ""),
    ];
    return [
      of("operation", "\0"),
      ...grants.filter(({ tool }) => tool !== "").map(({ tool }) => of("tool", tool)),
      ...named.flatMap(own).map((name) => of("resource", name)),
    ];
  }
}

/** Whether it may differ for names that its pattern does not tell apart. */
export function readsName({ condition }: Rule): boolean {
  return condition !== undefined && /\btool\b/.test(condition.text);
}

/** What is said of all of them together, as far as it does not depend on arguments. */
export function strictest(all: JudgedBy): AccessDecision {
  return all.map(({ decision }) => decision).reduce(stricter);
}
