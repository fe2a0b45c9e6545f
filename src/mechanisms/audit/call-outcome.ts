import type { AuditResult, AuditType, ErrorCode } from "../../contract/index.ts";

/** How one call, or one failed try of it, ended. */
export type CallOutcome = {
  /** "ok", "fault" (the server's own error), "tool_error", or one of our codes. */
  readonly code: string;
  readonly durationMs: number;
  readonly bytesOut: number;
  /** From 1. */
  readonly attempt: number;
  readonly retryOf?: string;
  /** The level whose limit was reached. */
  readonly limit?: string;
  /** It was answered from what was kept: nobody was asked. */
  readonly isCached: boolean;
  /** The class of what was thrown below our error. */
  readonly exception?: string;
  /** What decided against it. */
  readonly source?: string;
  readonly isTask?: boolean;
};

type Verdict = { readonly type: AuditType; readonly result: AuditResult };

const DONE: Verdict = { type: "TOOL_EXECUTED", result: "SUCCESS" };
const FAILED: Verdict = { type: "TOOL_EXECUTED", result: "FAILURE" };
const BLOCKED: Verdict = { type: "TOOL_BLOCKED", result: "BLOCKED" };
const HELD: Verdict = { type: "TOOL_BLOCKED", result: "PENDING" };

/** Codes that say: somebody did not let it through. All others: it was tried. */
const VERDICTS: Partial<Record<ErrorCode, Verdict>> = {
  BAD_CALL: BLOCKED,
  NOT_AUTHENTICATED: BLOCKED,
  NOT_ALLOWED: BLOCKED,
  NO_SUCH_TARGET: BLOCKED,
  LIMITED: BLOCKED,
  CONFIRMATION_REQUIRED: HELD,
};

export function verdictOf(code: string): Verdict {
  if (code === "ok") return DONE;
  return VERDICTS[code as ErrorCode] ?? FAILED;
}

export type FeedOutcome =
  | "ok"
  | "tool_error"
  | "denied"
  | "rate_limited"
  | "cancelled"
  | "timeout"
  | "crash"
  | "invalid_input"
  | "invalid_output";

const FEED: Readonly<Record<string, FeedOutcome>> = {
  ok: "ok",
  tool_error: "tool_error",
  fault: "tool_error",
  NOT_AUTHENTICATED: "denied",
  NOT_ALLOWED: "denied",
  NO_SUCH_TARGET: "denied",
  CONFIRMATION_REQUIRED: "denied",
  LIMITED: "rate_limited",
  OVERLOADED: "rate_limited",
  CANCELLED: "cancelled",
  DEADLINE_PASSED: "timeout",
  BAD_CALL: "invalid_input",
  PROVIDER_FAILED: "invalid_output",
};

/** Whatever else: something broke. */
export function feedOutcome(code: string): FeedOutcome {
  return FEED[code] ?? "crash";
}
