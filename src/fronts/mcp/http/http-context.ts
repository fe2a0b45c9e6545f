import type { FrontContext } from "../front-context.ts";
import type { ModernContext } from "../modern/modern-context.ts";
import type { BatchTurns } from "./batch-turns.ts";
import type { CallJournals } from "./call-journals.ts";
import type { Gate } from "./gate.ts";
import type { LateAnswers } from "./late-answers.ts";

export type HttpContext = {
  readonly front: FrontContext;
  readonly modern: ModernContext;
  readonly gate: Gate;
  readonly batches: BatchTurns;
  readonly lateAnswers: LateAnswers;
  /** Of requests of 2026-07-28: they cannot come back, so there is less hurry. */
  readonly modernAnswers: LateAnswers;
  /** Absent where no other process could want them. */
  readonly journals: CallJournals | undefined;
  /** This process is about to stop: what is new belongs elsewhere. */
  isLeaving: boolean;
};
