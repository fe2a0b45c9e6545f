/** A kept task as 2026-07-28 tells it whole: with its questions, or with how it ended. */
import { jsonText, type Payload, payload } from "../../../contract/index.ts";
import type { TaskFacts } from "../../../mechanisms/runs/index.ts";
import { RELATED_TASK } from "../../../wire/mcp/index.ts";
import type { FrontContext } from "../front-context.ts";
import { errorBody } from "../mcp-errors.ts";
import { taskMembers } from "../task-text.ts";
import { inputRequestsText } from "./questions.ts";
import { toolResult } from "./results.ts";

export function taskDetails(front: FrontContext, task: TaskFacts): Payload {
  return payload(`{${taskMembers(task, "2026", task.status)}${stateMember(front, task)}}`);
}

function stateMember(front: FrontContext, { id, status, pending, end }: TaskFacts): string {
  if (status === "input_required") return `,"inputRequests":${inputRequestsText(pending)}`;
  if (end?.type === "error") return `,"error":${jsonText(errorBody("tools/call", end.error, id))}`;
  if (end?.outcome === "fault") return `,"error":${end.payload.text}`;
  return end ? `,"result":${toolResult(front, withoutTask(end.payload)).text}` : "";
}

/** The task is named beside the result; servers of 2025 name it inside, by their own id. */
function withoutTask(result: Payload): Payload {
  return result.text.includes(RELATED_TASK) ? result.splice(["_meta", RELATED_TASK]) : result;
}
