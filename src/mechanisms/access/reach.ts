/** What callers may reach who may do the same: decided once for each primitive, and looked up from then on. */
import type { Block, Entry, Identity, Principal, Reach, Target } from "../../contract/index.ts";
import {
  type AccessDecision,
  type Asker,
  conclude,
  matchesRule,
  type Prelude,
  preludeOf,
  type Question,
} from "./decide.ts";
import type { AccessPolicy, Rule } from "./policy.ts";

export type ReachParts = {
  readonly key: string;
  /** What of the policy is about these callers. */
  readonly policy: AccessPolicy;
  /** Of one of them: in all that matters here they are alike. */
  readonly identity: Identity;
  readonly blocks: readonly Block[];
  readonly protocol: string;
  readonly conceals: boolean;
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

  constructor(parts: ReachParts) {
    this.key = parts.key;
    this.conceals = parts.conceals;
    this.#parts = parts;
    this.#judgedIn = new Map(parts.policy.exposures.map(({ server }) => [server, new WeakMap()]));
  }

  reaches({ target, template }: Entry, catalog: string): boolean {
    return this.#sees(target, catalog) && (template === undefined || this.#sees(template, catalog));
  }

  #sees(target: Target, catalog: string): boolean {
    return this.judged(target, catalog).isVisible;
  }

  refused({ target }: Entry, catalog: string, by: Principal): void {
    const { decision } = this.#judge(target, catalog);
    this.#parts.onRefused({ principal: by, target, decision, protocol: this.#parts.protocol });
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
    const { policy, identity, now } = this.#parts;
    const question = this.#questionOf(target, catalog);
    const { dotted } = question;
    const rules = policy.rules.filter((rule) => matchesRule(rule, { dotted, identity }));
    const conditional = rules.filter(({ condition }) => condition !== undefined);
    const unconditional = rules.filter(({ condition }) => condition === undefined);
    const prelude = preludeOf(policy, this.#askerFor(question), question, now());
    const decision = conclude(prelude, unconditional);
    const canBeRuled = conditional.some(({ effect }) => effect === "allow");
    const isVisible = this.#isVisible(question, decision, canBeRuled, unconditional);
    const isShown = isVisible && decision.effect === "deny";
    const said = isShown ? { ...decision, isShown } : decision;
    return { question, prelude, decision: said, unconditional, conditional, isVisible };
  }

  /** What could still be allowed is shown: by what it is called with, or by a token that is good for more. */
  #isVisible(question: Question, decision: AccessDecision, canBeRuled: boolean, held: readonly Rule[]): boolean {
    const { effect, source } = decision;
    if (effect !== "deny") return true;
    if (source === "default_policy") return canBeRuled;
    if (source !== "scope") return false;
    const { policy, now } = this.#parts;
    const otherwise = preludeOf({ ...policy, scopes: [] }, this.#askerFor(question), question, now());
    return this.#isVisible(question, conclude(otherwise, held), canBeRuled, held);
  }

  #askerFor(question: Question): Asker {
    const { identity, blocks, now } = this.#parts;
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
    const isReached = this.#probes(provider).some((target) => this.#judge(target, catalog).isVisible);
    this.#providers.set(key, isReached);
    return isReached;
  }

  /** A name that nobody has stands for all that nothing was said about; then come those that something was said about. */
  #probes(provider: string): readonly Target[] {
    const { policy, dottedOf } = this.#parts;
    const of = (kind: Target["kind"], name: string): Target => ({ provider, kind, name });
    const start = dottedOf(of("resource", ""));
    const own = (dotted: string) => (dotted.startsWith(start) ? dotted.slice(start.length) : dotted);
    const named = [
      ...policy.bindings.map(({ primitive }) => primitive),
      ...policy.rules.map(({ match }) => match),
      ...policy.exposures.map(({ primitive }) => primitive).filter((primitive) => primitive !== ""),
    ];
    return [
      of("operation", "\0"),
      ...policy.grants.filter(({ tool }) => tool !== "").map(({ tool }) => of("tool", tool)),
      ...named.map((dotted) => of("resource", own(dotted))),
    ];
  }
}

export function blockFor(blocks: readonly Block[], question: Question, now: number): Block | undefined {
  const { server, protocol, name, dotted } = question;
  return blocks.find(
    (block) =>
      block.until > now &&
      (block.server === "" || block.server === server) &&
      (block.protocol === "" || block.protocol === protocol) &&
      (block.primitive === "" || block.primitive === name || block.primitive === dotted),
  );
}
