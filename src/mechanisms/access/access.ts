/** Who may do what, as it is now: the config and what operators have set since, decided for each caller and primitive. */
import {
  type Access,
  type Block,
  type Blocks,
  type Call,
  GatewayError,
  type Identity,
  identityOf,
  matchesPattern,
  PEER,
  type Principal,
  type Target,
  type Timer,
  type Timers,
} from "../../contract/index.ts";
import { mentionsAny } from "./argument-names.ts";
import { ArgumentsFault, readArguments } from "./arguments.ts";
import {
  type AccessDecision,
  conclude,
  heldRules,
  matchesRule,
  preludeOf,
  type Question,
  type Step,
  stricter,
  takeSteps,
} from "./decide.ts";
import { narrow } from "./narrow.ts";
import type { AccessPolicy, Condition, Rule, RuleFacts } from "./policy.ts";
import { blockFor, type Judged, LiveReach, type Refusal } from "./reach.ts";

type AccessOptions = {
  readonly timers: Timers;
  /** Everybody's time, in ms. */
  readonly now: () => number;
  /** How a primitive is called in the list of everything. */
  readonly dottedOf: (target: Target) => string;
  /** Unset: nobody is blocked. */
  readonly blocks?: (() => Blocks | undefined) | undefined;
  /** Somebody may do something else than before. */
  readonly onChange: () => void;
  readonly onRefused: (refusal: Refusal) => void;
};

/** What is in force. `version` stands for all of it: another one, another policy. */
export type InForce = { readonly policy: AccessPolicy; readonly version: string; readonly conceals: boolean };

/** The protocol of fronts that name none. */
const PROTOCOL = "mcp";
/** The longest that a timer is set for. */
const MAX_WAIT_MS = 3_600_000;

/** What was found for a caller: it is good for one generation and version of the block list, and until a block is over. */
type Known = {
  readonly generation: number;
  readonly blocks: number;
  readonly until: number;
  readonly reach: LiveReach | undefined;
};

export class LiveAccess implements Access {
  readonly #options: AccessOptions;
  #inForce: InForce;
  #generation = 0;
  /** When something of it is over. */
  #changesAt = Number.POSITIVE_INFINITY;
  #timer: Timer | undefined;
  /** Of the protocol that nearly all callers speak. */
  #known = new WeakMap<Principal, Known>();
  /** Callers who may do the same share what was decided. */
  #reaches = new Map<string, WeakRef<LiveReach>>();

  constructor(options: AccessOptions, inForce: InForce) {
    this.#options = options;
    this.#inForce = inForce;
    this.#renew();
  }

  get policy(): AccessPolicy {
    return this.#inForce.policy;
  }

  /** An approval is good only for the policy under which it was asked for. */
  get version(): string {
    return this.#inForce.version;
  }

  use(inForce: InForce): void {
    this.#inForce = inForce;
    this.#renew();
    this.#options.onChange();
  }

  /** Something was said about somebody: the calls of all have to be looked at. */
  get isRestrictive(): boolean {
    const { grants, bindings, exposures, scopes, rules, defaults } = this.policy;
    return [grants, bindings, exposures, scopes, rules, defaults].some((all) => all.length > 0);
  }

  reachOf(principal: Principal, protocol: string = PROTOCOL): LiveReach | undefined {
    // It has judged what its clients want before it asks here.
    if (principal.id === PEER.id) return undefined;
    const now = this.#options.now();
    if (now >= this.#changesAt) this.#expire();
    const blocks = this.#options.blocks?.();
    const version = blocks?.version ?? 0;
    const known = protocol === PROTOCOL ? this.#known.get(principal) : undefined;
    if (known?.generation === this.#generation && known.blocks === version && now < known.until) return known.reach;
    const own = blocks?.of(principal) ?? [];
    const reach = this.#find(principal, protocol, own);
    if (protocol === PROTOCOL) {
      const until = own.reduce((soonest, block) => Math.min(soonest, block.until), Number.POSITIVE_INFINITY);
      this.#known.set(principal, { generation: this.#generation, blocks: version, until, reach });
    }
    return reach;
  }

  #find(principal: Principal, protocol: string, blocks: readonly Block[]): LiveReach | undefined {
    const identity = identityOf(principal);
    if (blocks.length === 0 && this.#isOpenTo(identity)) return undefined;
    const { policy, key } = narrow(this.policy, identity);
    const whole = JSON.stringify([this.#generation, protocol, key, blocks.map(({ id, until }) => [id, until])]);
    const known = this.#reaches.get(whole)?.deref();
    if (known) return known;
    const { now, dottedOf, onRefused } = this.#options;
    const { conceals } = this.#inForce;
    const reach = new LiveReach({ key: whole, policy, identity, blocks, protocol, conceals, now, dottedOf, onRefused });
    this.#remember(whole, reach);
    return reach;
  }

  #remember(key: string, reach: LiveReach): void {
    if (this.#reaches.size >= MAX_REACHES) {
      for (const [old, ref] of this.#reaches) if (ref.deref() === undefined) this.#reaches.delete(old);
      const [oldest] = this.#reaches.keys();
      if (this.#reaches.size >= MAX_REACHES && oldest !== undefined) this.#reaches.delete(oldest);
    }
    this.#reaches.set(key, new WeakRef(reach));
  }

  /** Whether nothing was ever said that could keep this caller from anything. */
  #isOpenTo({ proof, tenant }: Identity): boolean {
    const { grants, bindings, exposures, scopes, rules, defaults, sandboxed } = this.policy;
    if ([grants, bindings, exposures, scopes, rules].some((all) => all.length > 0)) return false;
    if (defaults.length === 0) return proof === "local";
    const meant = defaults.filter((rule) => rule.tenant === "*" || rule.tenant === tenant);
    const isNamed = meant.some(({ server }) => server === "*");
    return meant.every(({ policy }) => policy === "opt-out") && sandboxed.size === 0 && (isNamed || proof === "local");
  }

  /** What is to become of a call; undefined: it may go. Throws BAD_CALL where its arguments cannot be judged. */
  judge(call: Call): AccessDecision | undefined {
    const reach = this.reachOf(call.principal, call.origin.front);
    if (!reach) return undefined;
    const catalog = call.session?.catalog ?? "";
    if (call.target.kind === "operation") return judgeRaw(call, reach, catalog);
    const own = this.#judgeBy(call, reach.judged(call.target, catalog));
    if (call.template === undefined || own.effect === "deny") return own;
    return stricter(own, this.#judgeBy(call, reach.judged(call.template, catalog)));
  }

  #judgeBy(call: Call, judged: Judged): AccessDecision {
    const { decision, conditional } = judged;
    const isFinal = conditional.length === 0 || (decision.effect === "deny" && decision.source !== "default_policy");
    return isFinal ? decision : this.#judgeArguments(call, judged);
  }

  #judgeArguments(call: Call, { question, prelude, decision, unconditional, conditional }: Judged): AccessDecision {
    const said = ruled(this.#factsOf(call, question), (holds) => {
      const held = conditional.filter(holds);
      return held.length === 0 ? decision : conclude(prelude, [...unconditional, ...held]);
    });
    return said.effect === "deny" && !said.isShown ? { ...said, isShown: true } : said;
  }

  /** Arguments are read only where a rule asks for one that the call has. */
  #factsOf({ principal, input }: Call, question: Question): (condition: Condition) => RuleFacts {
    let whole: RuleFacts | undefined;
    return ({ names }) => {
      if (whole) return whole;
      if (names && !mentionsAny(input.text, names)) return this.#facts(question, principal, {});
      whole = this.#facts(question, principal, readArguments(input.at(["arguments"])));
      return whole;
    };
  }

  #facts({ dotted, server, protocol }: Question, principal: Principal, args: unknown): RuleFacts {
    const { tenant, user, client, groups, scopes } = identityOf(principal);
    return {
      args,
      principal: { id: principal.id, tenant, user, client, groups, scopes },
      tool: dotted,
      server,
      protocol,
    };
  }

  /** The same decision about a call that nobody has made; `argumentsText` unset: rules that read arguments do not hold. */
  ask(principal: Principal, question: Question, argumentsText?: string): Explained {
    const now = this.#options.now();
    const blocks = this.#options.blocks?.()?.of(principal) ?? [];
    const asker = { identity: identityOf(principal), block: blockFor(blocks, question, now) };
    const prelude = preludeOf(this.policy, asker, question, now);
    let steps: readonly Step[] = prelude.steps;
    let facts: RuleFacts | undefined;
    const factsOf = () => {
      facts ??= this.#facts(question, principal, readArguments(argumentsText));
      return facts;
    };
    const decision = ruled(factsOf, (judge) => {
      const holds = (rule: Rule) => (argumentsText === undefined && rule.condition ? false : judge(rule));
      const held = heldRules(this.policy, asker, question, { now, holds });
      steps = takeSteps(prelude, held);
      return conclude(prelude, held);
    });
    const isAsked = steps.some(({ step }) => step === "rule");
    const { dotted } = question;
    const { identity } = asker;
    const isConditional =
      isAsked && this.policy.rules.some((rule) => rule.condition && matchesRule(rule, { dotted, identity }));
    return { decision, steps, isConditional };
  }

  /** What a token must be good for. */
  scopesFor(dotted: string): string[] {
    const needed = this.policy.scopes.filter(({ match }) => matchesPattern(match, dotted));
    return [...new Set(needed.flatMap(({ scopes }) => scopes))];
  }

  #expire(): void {
    this.#renew();
    this.#options.onChange();
  }

  /** Decisions are made anew, and again when the next grant is over. */
  #renew(): void {
    this.#generation++;
    this.#reaches.clear();
    const { now, timers } = this.#options;
    const present = now();
    this.#changesAt = this.policy.grants.reduce(
      (soonest, { expiresAt = soonest }) => (expiresAt > present ? Math.min(soonest, expiresAt) : soonest),
      Number.POSITIVE_INFINITY,
    );
    this.#timer?.cancel();
    if (this.#changesAt === Number.POSITIVE_INFINITY) return;
    const wait = Math.min(this.#changesAt - present, MAX_WAIT_MS);
    this.#timer = timers.after(wait, () => this.#expire());
  }

  close(): void {
    this.#timer?.cancel();
  }
}

const MAX_REACHES = 10_000;

type Explained = {
  readonly decision: AccessDecision;
  readonly steps: readonly Step[];
  /** Rules about it depend on how it is called. */
  readonly isConditional: boolean;
};

/** Words about a call that was judged go on; what nobody here knows cannot be judged. */
function judgeRaw(call: Call, reach: LiveReach, catalog: string): AccessDecision {
  const isAbout = call.resumes !== undefined && reach.reachesProvider(call.target.provider, catalog);
  return isAbout
    ? { effect: "allow", source: "default_policy", reason: "it speaks about a call that was allowed" }
    : { effect: "deny", source: "default_policy", reason: `method "${call.method}" cannot be judged` };
}

/** A rule that cannot be judged denies. */
function ruled(
  factsFor: (condition: Condition) => RuleFacts,
  decideBy: (holds: (rule: Rule) => boolean) => AccessDecision,
): AccessDecision {
  let failed: Rule | undefined;
  try {
    return decideBy((rule) => {
      if (!rule.condition) return true;
      failed = rule;
      return rule.condition.holds(factsFor(rule.condition));
    });
  } catch (error) {
    if (error instanceof ArgumentsFault) {
      throw new GatewayError("BAD_CALL", {
        message: `The arguments cannot be judged: ${error.message}.`,
        cause: error,
      });
    }
    return { effect: "deny", source: "rule", reason: `rule ${failed?.id} cannot be judged for this call` };
  }
}
