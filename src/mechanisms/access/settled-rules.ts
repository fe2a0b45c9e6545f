/** Rules that look at who calls and at what is called, and at no argument: whether they hold is known before anybody calls. */
import { holdsFor } from "./caller-rank.ts";
import type { Rule, RuleFacts } from "./policy.ts";

/** Whether nothing has to be known of the arguments. */
export function readsNoArguments({ condition }: Rule): boolean {
  return condition === undefined || condition.names?.length === 0;
}

export type SettledRules = {
  /** They hold for every call. */
  readonly held: readonly Rule[];
  /** They have to look at the call itself. */
  readonly open: readonly Rule[];
  /** One of them cannot be judged, whatever it is called with: every call is refused for it. */
  readonly isFaulty: boolean;
};

export function settleRules(rules: readonly Rule[], facts: () => RuleFacts): SettledRules {
  const held: Rule[] = [];
  const open: Rule[] = [];
  let isFaulty = false;
  for (const rule of rules) {
    const holds = readsNoArguments(rule) ? outcomeOf(rule, facts) : "open";
    if (holds === true) held.push(rule);
    else if (holds !== false) open.push(rule);
    isFaulty ||= holds === "fault";
  }
  return { held, open, isFaulty };
}

/** What tells callers apart by such rules: equal for two, they hold for both or for neither. */
export function settledKey(rules: readonly Rule[], facts: RuleFacts): readonly unknown[] {
  const asked = rules.filter((rule) => rule.condition?.caller && readsNoArguments(rule));
  if (asked.some(({ condition }) => condition && OF_TARGET.test(condition.text)))
    return [facts.principal, facts.unnamed, facts.makers];
  return asked.map((rule) => outcomeOf(rule, () => facts));
}

/** It may differ from one thing that is called to another. */
const OF_TARGET = /\b(tool|server|protocol)\b/;

function outcomeOf(rule: Rule, facts: () => RuleFacts): boolean | "fault" {
  try {
    return holdsFor(rule, facts());
  } catch {
    return "fault";
  }
}
