/** What calls of one primitive take, worked out once for each caller: a call costs one look. */
import {
  type Call,
  type Debit,
  identityOf,
  type Principal,
  type SessionRef,
  type SlotClaim,
  type Target,
} from "../../contract/index.ts";
import { compareLevels } from "./limit-entry.ts";
import type { LimitCaller, LimitRule } from "./limit-rule.ts";

/** All in the order of the levels. */
export type LimitCharges = {
  readonly debits: readonly Debit[];
  readonly slots: readonly SlotClaim[];
  /** Of the debits, those that a call takes which is held at first, and those that it takes when it is let go. */
  readonly rates: readonly Debit[];
  readonly budgets: readonly Debit[];
};

const NOTHING: LimitCharges = { debits: [], slots: [], rates: [], budgets: [] };

export class LimitPlan {
  readonly #rules: readonly LimitRule[];
  readonly #target: Target;
  readonly #isPerSession: boolean;
  readonly #known = new WeakMap<Principal | SessionRef, LimitCharges>();

  /** `rules`: those that reach the target. */
  constructor(rules: readonly LimitRule[], target: Target) {
    this.#rules = rules;
    this.#target = target;
    this.#isPerSession = rules.some(({ isPerSession }) => isPerSession);
  }

  /** Undefined: it takes nothing. */
  chargesOf({ principal, session, resumes, method }: Call): LimitCharges | undefined {
    // What speaks about another call is part of that one; what another process sends was charged there.
    if (resumes !== undefined || session?.isPeer === true) return undefined;
    // Whoever has spent everything may still give something back.
    if (method === "resources/unsubscribe") return undefined;
    const lasting = this.#isPerSession && session !== undefined && isOfOneClient(session) ? session : undefined;
    const key = lasting ?? principal;
    let charges = this.#known.get(key);
    if (charges === undefined) {
      charges = this.#charges({ identity: identityOf(principal), session: lasting?.id });
      this.#known.set(key, charges);
    }
    return charges === NOTHING ? undefined : charges;
  }

  #charges(caller: LimitCaller): LimitCharges {
    const rules = this.#rules
      .filter((rule) => rule.isFor(caller.identity))
      .toSorted((one, other) => compareLevels(one.level, other.level));
    if (rules.length === 0) return NOTHING;
    const debits = rules.flatMap((rule) => rule.debits(this.#target, caller));
    return {
      debits,
      slots: rules.flatMap((rule) => rule.slots(this.#target, caller)),
      rates: debits.filter(({ refill }) => refill > 0),
      budgets: debits.filter(({ refill }) => refill === 0),
    };
  }
}

/** Others come and go with requests, or stand for many clients: whoever calls in them is counted by who it is. */
function isOfOneClient({ isEphemeral, isUnnamed }: SessionRef): boolean {
  return !isEphemeral && isUnnamed !== true;
}
