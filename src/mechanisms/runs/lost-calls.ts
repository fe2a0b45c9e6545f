/** Which calls of a session died with the process that made them. */
import type { CallLedger, Target } from "../../contract/index.ts";

export type LostCall = {
  readonly call: string;
  /** As the client spelled it: JSON. */
  readonly requestId: string;
  readonly method: string;
  readonly target: Target;
  /** That the call belongs to, as a UUID. */
  readonly trace?: string;
  /** On everybody's clock, in ms. */
  readonly startedAt: number;
  /** Under which the client wanted to hear of progress, as it spelled it. */
  readonly progressToken?: string;
};

/** Whether they took effect is not known: each has ended as OUTCOME_UNKNOWN. Rejects with STATE_UNAVAILABLE. */
export async function lostCalls(calls: CallLedger, session: string): Promise<readonly LostCall[]> {
  const open = await calls.openOf(session);
  return open.filter(({ isLost }) => isLost).map(({ call, facts }) => ({ ...(JSON.parse(facts) as LostCall), call }));
}

/** Strikes them off: their caller has been told. */
export async function forgetLostCalls(calls: CallLedger, session: string, lost: readonly LostCall[]): Promise<void> {
  await Promise.all(lost.map(({ call }) => calls.settle({ call, session })));
}
