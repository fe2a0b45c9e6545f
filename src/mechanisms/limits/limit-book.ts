/** All limits that are in force, and for each primitive those that reach it. */
import type { LimitEntry } from "./limit-entry.ts";
import { LimitPlan } from "./limit-plan.ts";
import { createRules, type LimitRule } from "./limit-rule.ts";
import { type DottedOf, type Limitable, LimitedTarget } from "./limited-target.ts";

/** Servers may go on renaming what they offer. */
const MAX_PLANS = 10_000;

export class LimitBook {
  #rules: readonly LimitRule[] = [];
  /** Primitives that are limited alike share a plan, and with it their pipelines. */
  readonly #plans = new Map<string, LimitPlan>();
  readonly #dottedOf: DottedOf;

  constructor(dottedOf: DottedOf) {
    this.#dottedOf = dottedOf;
  }

  get isEmpty(): boolean {
    return this.#rules.length === 0;
  }

  /** These and no others from now on; plans that were given out before are of the past. */
  replace(entries: readonly LimitEntry[]): void {
    this.#rules = createRules(entries);
    this.#plans.clear();
  }

  /** Undefined: no limit is for it. */
  planOf(entry: Limitable): LimitPlan | undefined {
    const { target } = entry;
    const wanted = new LimitedTarget(entry, this.#dottedOf);
    const places: number[] = [];
    for (const [place, rule] of this.#rules.entries()) if (rule.reaches(wanted)) places.push(place);
    if (places.length === 0) return undefined;
    const rules = places.map((place) => this.#rules[place] as LimitRule);
    const key = JSON.stringify([places, rules.map((rule) => rule.splitOf(target))]);
    let plan = this.#plans.get(key);
    if (plan === undefined) {
      if (this.#plans.size >= MAX_PLANS) this.#plans.clear();
      plan = new LimitPlan(rules, target);
      this.#plans.set(key, plan);
    }
    return plan;
  }
}
