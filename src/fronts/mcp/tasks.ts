/** Tasks of 2025-11-25: one that a provider runs is spoken about with it, under the id of the call that made it. */
import { decodeString } from "../../contract/index.ts";
import type { KeptTask } from "../../mechanisms/runs/index.ts";
import { answerText } from "../../wire/jsonrpc/index.ts";
import { badParams, type Exchange, refuseRepeated, startCall, viewOf } from "./calls.ts";
import type { FrontContext } from "./front-context.ts";
import { olderTask } from "./older-task.ts";
import { TaskResult } from "./task-result.ts";

const LONGEST_WAIT_MS = 24 * 60 * 60_000;

/** tasks/get, tasks/result and tasks/cancel. Another principal's task does not exist. */
export function callTask(front: FrontContext, exchange: Exchange): void {
  const { message, session } = exchange;
  const id = decodeString(message.members?.textOf("taskId"));
  if (id === undefined) return badParams(exchange, "params.taskId must be a string");
  const kept = front.tasks.find(id, session.principal);
  if (kept) return answerKept(exchange, kept);
  const record = front.runs.task(id);
  const isOwn = record?.principal.id === session.principal.id;
  const entry = record && isOwn ? viewOf(front, session).raw(record.target.provider, message.method) : undefined;
  if (!record || !entry) return badParams(exchange, "Failed to retrieve task: Task not found");
  const start = { entry, verb: "raw", input: message.body, resumes: id } as const;
  if (message.method !== "tasks/result") return void startCall(front, exchange, start);
  // The result comes when the task is done, which may take as long as the task may live.
  const timeoutMs = Math.min(Math.max(record.expiresAt - front.clock.now(), 1000), LONGEST_WAIT_MS);
  startCall(front, exchange, { ...start, timeoutMs });
}

function answerKept(exchange: Exchange, task: KeptTask): void {
  const { message, outlet } = exchange;
  if (message.method === "tasks/result")
    return refuseRepeated(exchange) ? undefined : new TaskResult(exchange, task).begin();
  if (message.method === "tasks/cancel") {
    if (task.isOver) return badParams(exchange, `Cannot cancel task in terminal status: ${task.status}`);
    task.cancel("the client cancelled the task");
  }
  outlet.answer(answerText(message.id, "result", olderTask(task)));
}
