/** What a server says about a task of its own, in the words of either era. */
import { copyText, decodeString, GatewayError, type Members } from "../../../contract/index.ts";

const STATUSES = ["working", "input_required", "completed", "failed", "cancelled"] as const;

export type TaskState = {
  readonly status: (typeof STATUSES)[number];
  readonly message: string | undefined;
  /** How long to wait before the server is asked again. */
  readonly pollMs: number;
  /** How long the server keeps the task. */
  readonly keepMs: number;
  readonly members: Members;
};

/** How an era names the two times of a task. */
export type TaskWords = { readonly ttl: string; readonly pollInterval: string };

export const LEGACY_WORDS: TaskWords = { ttl: "ttl", pollInterval: "pollInterval" };
export const MODERN_WORDS: TaskWords = { ttl: "ttlMs", pollInterval: "pollIntervalMs" };

/** Where the server names no time, or none that can be meant. */
export const DEFAULT_KEEP_MS = 3_600_000;
/** A server may name any time; nobody keeps a task for longer than this. */
export const MAX_KEEP_MS = 24 * 3_600_000;

const DEFAULT_POLL_MS = 1000;
const MIN_POLL_MS = 250;
const MAX_POLL_MS = 10_000;
const MAX_MESSAGE = 1000;
/** As JSON text. */
const MAX_TASK_ID = 1024;

export function taskIdOf(members: Members | undefined): string | undefined {
  return decodeString(members?.textOf("taskId"));
}

/**
 * The same as it is kept, which keeps nothing of the message. Throws PROVIDER_FAILED: what names a task is kept in memory and
 * in rows for as long as the task.
 */
export function keptTaskIdOf(members: Members | undefined): string | undefined {
  const literal = members?.textOf("taskId");
  if (literal === undefined || literal.length <= MAX_TASK_ID) return literal && decodeString(copyText(literal));
  const message = `The server's id of a task has more than ${MAX_TASK_ID} characters.`;
  throw new GatewayError("PROVIDER_FAILED", { message });
}

/** Undefined for something that is no task. */
export function readTaskState(members: Members | undefined, words: TaskWords): TaskState | undefined {
  const named = decodeString(members?.textOf("status"));
  const status = STATUSES.find((one) => one === named);
  if (!members || status === undefined) return undefined;
  return {
    status,
    message: decodeString(members.textOf("statusMessage"))?.slice(0, MAX_MESSAGE),
    pollMs: pollMsOf(members.textOf(words.pollInterval)),
    keepMs: keepMsOf(members.textOf(words.ttl)),
    members,
  };
}

/** `ttl`: its JSON text. */
export function keepMsOf(ttl: string | undefined): number {
  const ms = Number(ttl);
  return ms > 0 ? Math.min(ms, MAX_KEEP_MS) : DEFAULT_KEEP_MS;
}

function pollMsOf(interval: string | undefined): number {
  const ms = interval === undefined ? Number.NaN : Number(interval);
  return ms >= 0 ? Math.min(Math.max(ms, MIN_POLL_MS), MAX_POLL_MS) : DEFAULT_POLL_MS;
}
