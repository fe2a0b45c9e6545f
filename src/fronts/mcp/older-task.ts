/** A kept task as 2025-11-25 tells it. */
import { jsonText, type Payload, payload } from "../../contract/index.ts";
import type { TaskFacts, TaskStatus } from "../../mechanisms/runs/index.ts";
import { RELATED_TASK } from "../../wire/mcp/index.ts";
import { taskMembers } from "./task-text.ts";

export function olderTask(task: TaskFacts, status = olderStatus(task)): Payload {
  return payload(`{${taskMembers(task, "2025", status)}}`);
}

/** In this era a tool that says it failed has a task that failed. */
function olderStatus({ status, isError }: TaskFacts): TaskStatus {
  return status === "completed" && isError ? "failed" : status;
}

/** Says to which task a message belongs. */
export function relatedTo({ id }: TaskFacts, body: Payload): Payload {
  const whole = body.text === "" ? body.splice([], "{}") : body;
  return whole.splice(["_meta", RELATED_TASK], jsonText({ taskId: id }));
}
