/** A kept task in the words of both eras, which differ in two names. */
import { jsonText } from "../../contract/index.ts";
import type { TaskFacts, TaskStatus } from "../../mechanisms/runs/index.ts";

const WORDS = {
  "2025": { ttl: "ttl", poll: "pollInterval" },
  "2026": { ttl: "ttlMs", poll: "pollIntervalMs" },
} as const;

/** What is always said of a task: its members, as JSON text without braces. */
export function taskMembers(task: TaskFacts, era: keyof typeof WORDS, status: TaskStatus): string {
  const { ttl, poll } = WORDS[era];
  const { id, message, createdAt, lastUpdatedAt, ttlMs, pollMs } = task;
  const said = message === undefined ? "" : `"statusMessage":${jsonText(message)},`;
  return (
    `"taskId":${jsonText(id)},"status":"${status}",${said}"createdAt":"${createdAt}",` +
    `"lastUpdatedAt":"${lastUpdatedAt}","${ttl}":${ttlMs},"${poll}":${pollMs}`
  );
}
