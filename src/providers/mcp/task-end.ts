import { copyText, jsonText, membersAt, type Payload } from "../../contract/index.ts";
import type { EndEvent } from "./legacy-end.ts";
import type { RunningCall } from "./running-call.ts";
import { keepMsOf, keptTaskIdOf } from "./tasks/task-state.ts";
import type { UpstreamSession } from "./upstream-session.ts";

/** The end of a call that goes on as a task of the server; `task` is what the server says about it. */
export function taskEnd(running: RunningCall, task: string, body: Payload, session: UpstreamSession): EndEvent {
  const { tasks, clock } = session.context;
  const { call, id, token } = running;
  const members = membersAt(task, 0);
  const upstreamId = keptTaskIdOf(members);
  if (upstreamId === undefined) return { type: "end", outcome: "result", payload: body };
  const ttlMs = keepMsOf(members?.textOf("ttl"));
  tasks.add({
    id: call.id,
    upstreamId,
    principal: call.principal.id,
    expiresAt: clock.now() + ttlMs,
    token: token === undefined ? undefined : { ours: id, theirs: copyText(token) },
  });
  const renamed = tasks.towardsClient(body).splice(["task", "taskId"], jsonText(call.id));
  return { type: "end", outcome: "task", payload: renamed, ttlMs, handle: upstreamId };
}
