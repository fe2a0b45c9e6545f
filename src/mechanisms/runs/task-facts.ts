import type { Ask, CallEvent, Payload, Principal, Target } from "../../contract/index.ts";

export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** How the run of a task ended. A task that was cancelled has no such end. */
export type TaskEnd =
  | Extract<CallEvent, { type: "error" }>
  | { readonly type: "end"; readonly outcome: "result" | "fault"; readonly payload: Payload };

/** What is said of a task, whether it is here or only its row. */
export interface TaskFacts {
  readonly id: string;
  readonly principal: Principal;
  /** What was called; undefined: nobody knows any more. */
  readonly target: Target | undefined;
  /** See `MadeCall`. */
  readonly args: string | undefined;
  readonly status: TaskStatus;
  readonly isOver: boolean;
  readonly message: string | undefined;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  readonly ttlMs: number;
  readonly pollMs: number;
  /** Questions that wait for an answer. */
  readonly pending: Iterable<Ask>;
  /** The tool says that it failed. */
  readonly isError: boolean;
  /** Set when the task is completed or failed; in a list it may be left out. */
  readonly end: TaskEnd | undefined;
}

/** Whether its tool says that it failed. */
export function saysFailed(end: TaskEnd | undefined): boolean {
  return end?.type === "end" && end.payload.at(["isError"]) === "true";
}

/** How a task is over. */
export type TaskOutcome = Pick<TaskFacts, "status" | "message" | "end">;
