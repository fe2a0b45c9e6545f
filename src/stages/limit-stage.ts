/** Takes what a call takes where this process counts alone, so that nobody waits for it. Elsewhere the ledger does, with its trips. */
import {
  type Call,
  type Counters,
  type IsHeld,
  limitedError,
  type Next,
  type Out,
  onceLetGo,
  type SlotClaim,
  type Stage,
} from "../contract/index.ts";
import type { HeldChargeBook, Limitable, LimitCharges, LimitPlan } from "../mechanisms/limits/index.ts";

export type LimitStageOptions = {
  /** Undefined: calls on it take nothing. */
  planOf(entry: Limitable): LimitPlan | undefined;
  readonly counters: Counters;
  readonly member: () => string;
  readonly held: HeldChargeBook;
  readonly isHeld?: IsHeld | undefined;
};

/** A stage for each primitive that is limited; those that are limited alike have the same. */
export function limitStages(options: LimitStageOptions): (entry: Limitable) => Stage | undefined {
  const stages = new WeakMap<LimitPlan, Stage>();
  return (entry) => {
    const plan = options.planOf(entry);
    if (!plan) return undefined;
    const stage = stages.get(plan) ?? limitStage(options, plan);
    stages.set(plan, stage);
    return stage;
  };
}

function limitStage({ counters, member, held, isHeld }: LimitStageOptions, plan: LimitPlan): Stage {
  function take(call: Call, { debits, slots }: Partial<Pick<LimitCharges, "debits" | "slots">>): void {
    const limited = counters.take({ call: call.id, member: member(), debits, slots });
    if (limited !== undefined) throw limitedError(limited);
  }

  async function inPlaces(slots: readonly SlotClaim[], call: Call, out: Out, next: Next): Promise<void> {
    try {
      await next(call, out);
    } finally {
      // Without the call itself: what it has said may be long, and a task may run for a day.
      const { id } = call;
      onceLetGo(call, () => counters.free(id, slots));
    }
  }

  /** It may take its places in the middle of what follows. */
  async function whileHeld({ rates, budgets, slots }: LimitCharges, call: Call, out: Out, next: Next): Promise<void> {
    take(call, { debits: rates });
    held.hold(call, async () => take(call, { debits: budgets, slots }));
    try {
      await inPlaces(slots, call, out, next);
    } finally {
      held.forget(call);
    }
  }

  return function limit(call, out, next) {
    const charges = plan.chargesOf(call);
    if (charges === undefined) return next(call, out);
    if (isHeld?.(call) === true) return whileHeld(charges, call, out, next);
    try {
      take(call, charges);
    } catch (error) {
      return Promise.reject(error);
    }
    return charges.slots.length === 0 ? next(call, out) : inPlaces(charges.slots, call, out, next);
  };
}
