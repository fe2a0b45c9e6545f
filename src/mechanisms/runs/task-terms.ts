import type { Answer, Ask, CallEvent } from "../../contract/index.ts";

const SHORTEST_MS = 1000;
const LONGEST_MS = 24 * 60 * 60_000;
const USUAL_MS = 60 * 60_000;
const SOONEST_POLL_MS = 100;
const LATEST_POLL_MS = 60 * 60_000;
const USUAL_POLL_MS = 1000;

/** What a front lays down about a task it makes. */
export type TaskTerms = {
  /** From the beginning of the task; an hour unless told, and never more than a day. */
  readonly ttlMs?: number;
  readonly pollMs?: number;
  readonly message?: string;
  /** Whether whoever made the call can be asked this at all. */
  mayAsk(ask: Ask): boolean;
  /** The answer to a question that nobody is asked. */
  refusal(ask: Ask): Answer;
  /** Hears what has no place in a task: progress and log lines. */
  overhear?(event: CallEvent): void;
};

/** How long a task may be kept. */
export function boundTtl(ttlMs = USUAL_MS): number {
  return bound(ttlMs, SHORTEST_MS, LONGEST_MS);
}

/** How long to wait between two questions about a task. */
export function boundPoll(pollMs = USUAL_POLL_MS): number {
  return bound(pollMs, SOONEST_POLL_MS, LATEST_POLL_MS);
}

function bound(ms: number, least: number, most: number): number {
  return Math.min(Math.max(Math.round(ms), least), most);
}
