/** How a call on a server of the 2025 era ends. */
import { type CallEvent, jsonText, type TaskEnding } from "../../contract/index.ts";
import type { Message } from "../../wire/jsonrpc/index.ts";
import { capabilityFault } from "./modern/questions.ts";
import type { RunningCall } from "./running-call.ts";
import { taskEnd } from "./task-end.ts";
import { stripRelatedTask } from "./tasks/driven-tasks.ts";
import { LEGACY_WORDS, readTaskState } from "./tasks/task-state.ts";
import type { UpstreamSession } from "./upstream-session.ts";

export type EndEvent = CallEvent & { readonly type: "end" };

/** `task`: what the server says about the task that it made of the call, for whoever asks about it. Throws JsonFault. */
export function legacyEnd(
  running: RunningCall,
  message: Message,
  session: UpstreamSession,
  task: string | undefined,
): EndEvent {
  const { outcome } = message;
  const refused = refusedEnd(running, message);
  if (refused) return refused;
  if (outcome === "fault") return { type: "end", outcome, payload: message.body };
  if (task !== undefined) return taskEnd(running, task, message.body, session);
  const { method, resumes } = running.call;
  const body = session.context.tasks.towardsClient(message.body);
  const named = method === "tasks/get" || method === "tasks/cancel" ? resumes : undefined;
  const endsTask = resumes === undefined ? undefined : endingOf(method, message);
  const shown = named === undefined ? body : body.splice(["taskId"], jsonText(named));
  return { type: "end", outcome, payload: shown, ...(endsTask !== undefined && { endsTask }) };
}

/** A result is there when its task is over. Undefined: it is not. */
function endingOf(method: string, { members }: Message): TaskEnding | undefined {
  if (method === "tasks/result") return members?.textOf("isError") === "true" ? "failed" : "completed";
  const status = readTaskState(members, LEGACY_WORDS)?.status;
  return status === "working" || status === "input_required" ? undefined : status;
}

/** The end of a call whose task the gateway has seen through: the caller hears nothing of the task. */
export function legacyTaskEnd(running: RunningCall, message: Message): EndEvent {
  const { outcome, body } = message;
  return refusedEnd(running, message) ?? { type: "end", outcome, payload: stripRelatedTask(body) };
}

/** The server failed after it had asked what the client has not declared: that is what the client has to know. */
function refusedEnd({ refused }: RunningCall, { outcome, members }: Message): EndEvent | undefined {
  if (!refused?.length || (outcome === "result" && members?.textOf("isError") !== "true")) return undefined;
  return { type: "end", outcome: "fault", payload: capabilityFault(refused) };
}
