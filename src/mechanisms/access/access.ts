/** Who may do what, as it is now: the config and what operators have set since, decided for each caller and primitive. */
import {
  type Access,
  type Block,
  type Blocks,
  type Call,
  GatewayError,
  type Identity,
  identityOf,
  type MadeCall,
  matchesPattern,
  PEER,
  type Principal,
  payload,
  type Target,
  type Timer,
  type Timers,
} from "../../contract/index.ts";
import { mentionsAny } from "./argument-names.ts";
import { ArgumentsFault, readArguments, refuseTwins } from "./arguments.ts";
import { blockFor } from "./blocks-about.ts";
import { barestOf, type PolicyQuestion, rowsOf, unreadable } from "./by-uri.ts";
import { holdsFor, makersFor, unnamed } from "./caller-rank.ts";
import { judgeCompletion } from "./completion.ts";
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
import { PathFault, uriFault } from "./plain-path.ts";
import type { AccessPolicy, Condition, Rule, RuleFacts } from "./policy.ts";
import { type Judged, type JudgedBy, LiveReach, type Refusal, readsName, strictest } from "./reach.ts";
import { readsNoArguments, settledKey } from "./settled-rules.ts";

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
export type InForce = { readonly policy: AccessPolicy; readonly conceals: boolean };

/** The protocol of fronts that name none. */
const PROTOCOL = "mcp";
/** The longest that a timer is set for. */
const MAX_WAIT_MS = 3_600_000;

/** What rules look at. */
type Asked = Pick<Call, "principal" | "input">;

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

  /** Whether what a caller may not see is to look as if it were not there. */
  get conceals(): boolean {
    return this.#inForce.conceals;
  }

  use(inForce: InForce): void {
    this.#inForce = inForce;
    this.#renew();
    this.#options.onChange();
  }

  /** Something was said about somebody: the calls of all have to be looked at. */
  get isRestrictive(): boolean {
    const { grants, bindings, exposures, scopes, rules, defaults, tenants } = this.policy;
    return tenants.size > 0 || [grants, bindings, exposures, scopes, rules, defaults].some((all) => all.length > 0);
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
    const factsOf = (question: Question) => this.#facts(question, principal, {});
    const settled = settledKey(policy.rules, factsOf({ ...NOTHING, protocol }));
    const whole = JSON.stringify([
      this.#generation,
      protocol,
      key,
      settled,
      blocks.map(({ id, until }) => [id, until]),
    ]);
    const known = this.#reaches.get(whole)?.deref();
    if (known) return known;
    const { now, dottedOf, onRefused } = this.#options;
    const { conceals } = this.#inForce;
    const parts = { policy, identity, blocks, protocol, conceals, factsOf, now, dottedOf, onRefused };
    const reach = new LiveReach({ key: whole, ...parts });
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
    const { grants, bindings, exposures, scopes, rules, defaults, sandboxed, tenants } = this.policy;
    if (tenants.has(tenant)) return false;
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
    // By which the gateway itself gives up what its client may not hear of any more.
    if (call.method === "resources/unsubscribe" && call.life === "detached") return undefined;
    if (call.target.kind === "operation") return this.#judgeRaw(call, reach, catalog);
    const keeps = call.verb === "complete" ? this.#judgeCompletion(call, reach, catalog) : undefined;
    const said = this.#judgeByAll(call, reach.judgedBy(call, catalog));
    return keeps && said.effect !== "deny" ? { ...said, keeps } : said;
  }

  /** The strictest that is said. */
  #judgeByAll(call: Asked, [first, ...others]: JudgedBy): AccessDecision {
    let said = this.#judgeBy(call, first);
    for (const judged of others) {
      if (said.effect === "deny") return said;
      said = stricter(said, this.#judgeBy(call, judged));
    }
    return said;
  }

  /** Words about a task go on while its call could be made; what nobody here knows cannot be judged. */
  #judgeRaw(call: Call, reach: LiveReach, catalog: string): AccessDecision {
    const { task, method, target } = call;
    if (call.resumes === undefined || !reach.reachesProvider(target.provider, catalog))
      return { effect: "deny", source: "default_policy", reason: `method "${method}" cannot be judged` };
    const denial = task && this.#denialOf(call.principal, task, reach, catalog);
    return denial ?? { effect: "allow", source: "default_policy", reason: "it speaks about a call that was allowed" };
  }

  /** Which of the values that come back may be handed on; undefined: all of them. */
  #judgeCompletion(call: Call, reach: LiveReach, catalog: string): AccessDecision["keeps"] {
    const { provider } = call.target;
    if (!reach.decidesByUri(provider) && !this.policy.rules.some(readsName)) return undefined;
    const templates = reach.closedAmong(call.templates ?? [], catalog);
    const mayRead = (uri: string) => {
      const found = { target: { provider, kind: "resource", name: uri }, templates } as const;
      try {
        return this.#judgeByAll(call, reach.judgedBy(found, catalog)).effect !== "deny";
      } catch (error) {
        // What cannot be judged is not read.
        if (error instanceof GatewayError) return false;
        throw error;
      }
    };
    return judgeCompletion(call, { mayRead, templates: templates.length, ...reach.patternsAbout(provider) });
  }

  #judgeBy(call: Asked, judged: Judged): AccessDecision {
    const { prelude, decision, conditional } = judged;
    const isDenied = prelude.denied !== undefined || (decision.effect === "deny" && decision.source === "rule");
    const isFinal = conditional.length === 0 || isDenied;
    return isFinal ? decision : this.#judgeArguments(call, judged);
  }

  #judgeArguments(call: Asked, { question, prelude, decision, unconditional, conditional }: Judged): AccessDecision {
    const said = ruled(this.#factsOf(call, question), (holds) => {
      const held = conditional.filter(holds);
      return held.length === 0 ? decision : conclude(prelude, [...unconditional, ...held]);
    });
    return said.effect === "deny" && !said.isShown ? { ...said, isShown: true } : said;
  }

  tells(principal: Principal, call: MadeCall, catalog: string, asked?: "asked"): boolean {
    const reach = this.reachOf(principal);
    const decision = reach && this.#denialOf(principal, call, reach, catalog);
    if (!decision) return true;
    if (asked) this.#options.onRefused({ principal, target: call.target, decision, protocol: PROTOCOL });
    return false;
  }

  /** Why a call that was made could not be made by this caller now; undefined: it could. */
  #denialOf(principal: Principal, call: MadeCall, reach: LiveReach, catalog: string): AccessDecision | undefined {
    const { args } = call;
    const all = reach.judgedBy(call, catalog);
    if (!reach.hears(call, catalog)) return { ...strictest(all), effect: "deny" };
    for (const judged of all) {
      if (judged.conditional.length === 0) continue;
      const decision = args === undefined ? UNKNOWN_ARGUMENTS : this.#judgeAgain(principal, args, judged);
      if (decision.effect === "deny") return decision;
    }
    return undefined;
  }

  #judgeAgain(principal: Principal, args: string, judged: Judged): AccessDecision {
    try {
      const input = payload(args === "" ? "{}" : `{"arguments":${args}}`);
      return this.#judgeBy({ principal, input }, judged);
    } catch (error) {
      if (!GatewayError.is(error)) throw error;
      return { effect: "deny", source: "rule", reason: error.message };
    }
  }

  /** Arguments are read only where a rule asks for one that the call has. */
  #factsOf({ principal, input }: Asked, question: Question): (condition: Condition) => RuleFacts {
    let whole: RuleFacts | undefined;
    return ({ names, fields }) => {
      if (!whole) {
        if (names && !mentionsAny(input.text, names)) return this.#facts(question, principal, {});
        whole = this.#facts(question, principal, readArguments(input.at(["arguments"])));
      }
      refuseTwins(whole.args, fields);
      return whole;
    };
  }

  #facts({ kind, dotted, server, protocol }: Question, principal: Principal, args: unknown): RuleFacts {
    const identity = identityOf(principal);
    const { tenant, user, client, groups, scopes } = identity;
    const named = { id: principal.id, tenant, user, client, groups, scopes };
    return {
      args,
      principal: named,
      unnamed: unnamed(named, identity),
      makers: makersFor(named, identity),
      // The sign for the end of an address is for patterns; no URI that is judged has it.
      tool: kind === "resource" ? dotted.replace("\\", "") : dotted,
      server,
      protocol,
    };
  }

  /**
   * The same decision about a call that nobody has made; `argumentsText` unset: rules that read arguments do not hold. `templates`: those
   * that a URI fits which nobody lists.
   */
  ask(
    principal: Principal,
    question: Question,
    argumentsText?: string,
    templates: readonly Question[] = [],
  ): Explained {
    const fault = this.#faultOf(principal, question);
    if (fault !== undefined) return { decision: unreadable(question, fault).decision, steps: [], isConditional: false };
    const { policy } = this;
    const blocks = this.#options.blocks?.()?.of(principal) ?? [];
    const ofUri = question.kind === "resource" ? [barestOf(policy, blocks)(question)] : [];
    const all = [...ofUri, ...templates.map((one) => ({ policy, blocks, question: one }))];
    const ask = (asked: PolicyQuestion) => this.#askOne(principal, asked, argumentsText);
    return all.map(ask).reduce((strictest, one) => {
      const isConditional = strictest.isConditional || one.isConditional;
      const isStricter = stricter(strictest.decision, one.decision) === one.decision;
      return { ...(isStricter ? one : strictest), isConditional };
    }, ask({ policy, blocks, question }));
  }

  /** Why a URI cannot be judged. */
  #faultOf(principal: Principal, { kind, server, name, protocol }: Question): string | undefined {
    if (kind !== "resource" || !this.reachOf(principal, protocol)?.decidesByUri(server)) return undefined;
    return uriFault(name);
  }

  #askOne(principal: Principal, { policy, blocks, question }: PolicyQuestion, argumentsText?: string): Explained {
    const now = this.#options.now();
    const asker = { identity: identityOf(principal), block: blockFor(blocks, question, now) };
    const prelude = preludeOf(policy, asker, question, now);
    let steps: readonly Step[] = prelude.steps;
    let facts: RuleFacts | undefined;
    const factsOf = ({ fields }: Condition) => {
      facts ??= this.#facts(question, principal, readArguments(argumentsText));
      refuseTwins(facts.args, fields);
      return facts;
    };
    const decision = ruled(factsOf, (judge) => {
      const holds = (rule: Rule) => (argumentsText === undefined && !readsNoArguments(rule) ? false : judge(rule));
      const held = heldRules(policy, asker, question, { now, holds });
      steps = takeSteps(prelude, held);
      return conclude(prelude, held);
    });
    const isAsked = steps.some(({ step }) => step === "rule");
    const { dotted } = question;
    const { identity } = asker;
    const isConditional =
      isAsked && policy.rules.some((rule) => !readsNoArguments(rule) && matchesRule(rule, { dotted, identity }));
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
    this.#changesAt = rowsOf(this.policy).grants.reduce(
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

const UNKNOWN_ARGUMENTS: AccessDecision = {
  effect: "deny",
  source: "rule",
  reason: "a rule reads arguments that were not kept",
};

/** For rules that look at the caller alone. */
const NOTHING = { server: "", kind: "tool", name: "", dotted: "", catalog: "" } as const;

type Explained = {
  readonly decision: AccessDecision;
  readonly steps: readonly Step[];
  /** Rules about it depend on how it is called. */
  readonly isConditional: boolean;
};

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
      return holdsFor(rule, factsFor(rule.condition));
    });
  } catch (error) {
    if (error instanceof ArgumentsFault || error instanceof PathFault) {
      throw new GatewayError("BAD_CALL", {
        message: `The arguments cannot be judged: ${error.message}.`,
        cause: error,
      });
    }
    return { effect: "deny", source: "rule", reason: `rule ${failed?.id} cannot be judged for this call` };
  }
}
