import { type CallEvent, decodeString, jsonText, membersAt, type Payload } from "../../contract/index.ts";
import type { RunningCall } from "./running-call.ts";
import type { UpstreamSession } from "./upstream-session.ts";

const DEFAULT_TASK_MS = 3_600_000;
/** A server may name any time; nobody keeps a task for longer than this. */
const MAX_TASK_MS = 24 * 3_600_000;

/** The end of a call that goes on as a task of the server; `task` is what the server says about it. */
export function taskEnd(running: RunningCall, task: string, body: Payload, session: UpstreamSession): CallEvent {
  const { tasks, clock } = session.context;
  const { call, id, token } = running;
  const members = membersAt(task, 0);
  const upstreamId = decodeString(members?.textOf("taskId"));
  if (upstreamId === undefined) return { type: "end", outcome: "result", payload: body };
  const ttl = Number(members?.textOf("ttl"));
  const ttlMs = ttl > 0 ? Math.min(ttl, MAX_TASK_MS) : DEFAULT_TASK_MS;
  tasks.add({
    id: call.id,
    upstreamId,
    principal: call.principal.id,
    expiresAt: clock.now() + ttlMs,
    token: token === undefined ? undefined : { ours: id, theirs: token },
  });
  const renamed = tasks.towardsClient(body).splice(["task", "taskId"], jsonText(call.id));
  return { type: "end", outcome: "task", payload: renamed, ttlMs };
}
