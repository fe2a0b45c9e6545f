/**
 * Tasks of 2025-11-25. One that the gateway keeps is answered for here, from its row, or by the process that runs it; one
 * that a provider runs is spoken about with it, under the id of the call that made it.
 */
import { decodeString } from "../../contract/index.ts";
import type { KeptTask, TaskFacts } from "../../mechanisms/runs/index.ts";
import { answerText } from "../../wire/jsonrpc/index.ts";
import { badParams, type Exchange, noteRefused, refuseRepeated, startCall, viewOf } from "./calls.ts";
import type { FrontContext } from "./front-context.ts";
import { olderTask } from "./older-task.ts";
import { answerElsewhere } from "./posted.ts";
import { resultText, TaskResult } from "./task-result.ts";

const LONGEST_WAIT_MS = 24 * 60 * 60_000;

/** tasks/get, tasks/result and tasks/cancel. Another principal's task does not exist. */
export function callTask(front: FrontContext, exchange: Exchange): void | Promise<void> {
  const { message, session } = exchange;
  const id = decodeString(message.members?.textOf("taskId"));
  if (id === undefined) return badParams(exchange, "params.taskId must be a string");
  const kept = front.tasks.find(id, session.principal);
  return kept ? answerKept(exchange, kept) : callDistant(front, exchange, id);
}

/** It is not kept here. */
async function callDistant(front: FrontContext, exchange: Exchange, id: string): Promise<void> {
  const found = await front.tasks.seek(id, exchange.session.principal);
  if (found?.type === "over") return answerOver(exchange, found.task);
  if (found) return await answerElsewhere(exchange.posted, found.home);
  await callProvider(front, exchange, id);
}

async function callProvider(front: FrontContext, exchange: Exchange, id: string): Promise<void> {
  const { message, session } = exchange;
  const task = await front.runs.task(id);
  const isOwn = task?.principal.id === session.principal.id;
  const entry = task && isOwn ? viewOf(front, exchange).raw(task.target.provider, message.method) : undefined;
  if (!task || !entry) {
    noteRefused(front, exchange, "task", message.method);
    return badParams(exchange, "Failed to retrieve task: Task not found");
  }
  const start = { entry, verb: "raw", input: message.body, resumes: id, task } as const;
  if (message.method !== "tasks/result") return void startCall(front, exchange, start);
  // The result comes when the task is done, which may take as long as the task may live.
  const timeoutMs = Math.min(Math.max(task.expiresAt - front.clock.now(), 1000), LONGEST_WAIT_MS);
  startCall(front, exchange, { ...start, timeoutMs });
}

function answerKept(exchange: Exchange, task: KeptTask): void | Promise<void> {
  const { method } = exchange.message;
  if (task.isOver) return answerOver(exchange, task);
  if (method === "tasks/result") return refuseRepeated(exchange) ? undefined : new TaskResult(exchange, task).begin();
  if (method !== "tasks/cancel") return describe(exchange, task);
  task.cancel("the client cancelled the task");
  if (task.ending !== undefined) return task.ending.then(() => answerCancelled(exchange, task));
  answerCancelled(exchange, task);
}

/** It may have ended in another way just before. */
function answerCancelled(exchange: Exchange, task: TaskFacts): void {
  if (task.status === "cancelled") describe(exchange, task);
  else answerOver(exchange, task);
}

function answerOver(exchange: Exchange, task: TaskFacts): void {
  const { message, outlet } = exchange;
  if (message.method === "tasks/result") {
    if (!refuseRepeated(exchange)) outlet.answer(resultText(message.id, task));
    return;
  }
  if (message.method === "tasks/cancel")
    return badParams(exchange, `Cannot cancel task in terminal status: ${task.status}`);
  describe(exchange, task);
}

function describe({ message, outlet }: Exchange, task: TaskFacts): void {
  outlet.answer(answerText(message.id, "result", olderTask(task)));
}
