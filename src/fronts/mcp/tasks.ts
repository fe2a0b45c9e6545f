/**
 * Tasks of 2025-11-25. One that the gateway keeps is answered for here, from its row, or by the process that runs it; one
 * that a provider runs is spoken about with it, under the id of the call that made it.
 */
import { decodeString, type Principal } from "../../contract/index.ts";
import type { KeptTask, TaskFacts } from "../../mechanisms/runs/index.ts";
import { answerText, errorText } from "../../wire/jsonrpc/index.ts";
import { badParams, type Exchange, noteRefused, refuseRepeated, startCall, viewOf } from "./calls.ts";
import type { FrontContext } from "./front-context.ts";
import { olderTask } from "./older-task.ts";
import { answerElsewhere } from "./posted.ts";
import { resultText, TaskResult } from "./task-result.ts";
import { mayHear, noteRead, noteToldOf, type ToldTask } from "./told-tasks.ts";

const LONGEST_WAIT_MS = 24 * 60 * 60_000;

/** tasks/get, tasks/result and tasks/cancel. Another principal's task does not exist, nor one of a call that may not be made. */
export function callTask(front: FrontContext, exchange: Exchange): void | Promise<void> {
  const { message, session } = exchange;
  const id = decodeString(message.members?.textOf("taskId"));
  if (id === undefined) return badParams(exchange, "params.taskId must be a string");
  const kept = front.tasks.find(id, session.principal);
  if (!kept) return callDistant(front, exchange, id);
  return isTold(front, exchange, kept) ? answerKept(front, exchange, kept) : notFound(front, exchange);
}

/** It is not kept here. */
async function callDistant(front: FrontContext, exchange: Exchange, id: string): Promise<void> {
  const found = await front.tasks.seek(id, exchange.session.principal);
  if (found && !isTold(front, exchange, found.task)) return notFound(front, exchange);
  if (found?.type === "over") return answerOver(front, exchange, found.task);
  if (found) return await answerElsewhere(exchange.posted, found.home);
  await callProvider(front, exchange, id);
}

async function callProvider(front: FrontContext, exchange: Exchange, id: string): Promise<void> {
  const { message, session } = exchange;
  const task = await front.runs.task(id);
  const isOwn = task?.principal.id === session.principal.id;
  const isKnown = task !== undefined && isOwn && isTold(front, exchange, task);
  const entry = isKnown ? viewOf(front, exchange).raw(task.target.provider, message.method) : undefined;
  if (!task || !entry) return notFound(front, exchange);
  const isCancel = message.method === "tasks/cancel";
  const about = { entry, verb: "raw", input: message.body, resumes: id, task } as const;
  const start = isCancel ? ({ ...about, cancels: true } as const) : about;
  const refusal = () => (isTold(front, exchange, task, "still") ? undefined : refuseTask(front, exchange));
  if (message.method !== "tasks/result") return void startCall(front, exchange, start, { refusal });
  // The result comes when the task is done, which may take as long as the task may live.
  const timeoutMs = Math.min(Math.max(task.expiresAt - front.clock.now(), 1000), LONGEST_WAIT_MS);
  const onEnd = (isSuccess: boolean, outcome?: string) => {
    if (outcome !== undefined) noteToldOf(front, exchange, task, isSuccess);
  };
  startCall(front, exchange, { ...start, timeoutMs }, { refusal, onEnd });
}

/** still: what was decided when it was asked for is asked again when there is something to tell. */
function isTold(front: FrontContext, exchange: Exchange, task: ToldTask, when: "asked" | "still" = "asked"): boolean {
  const { session, principal } = exchange;
  return mayHear(front, { catalog: session.catalog, principal }, task, when === "asked" ? when : undefined);
}

function notFound(front: FrontContext, exchange: Exchange): void {
  exchange.outlet.answer(refuseTask(front, exchange));
}

/** What is answered. */
function refuseTask(front: FrontContext, exchange: Exchange): string {
  const { id, method } = exchange.message;
  noteRefused(front, exchange, "task", method);
  return errorText(id, { code: -32602, message: "Failed to retrieve task: Task not found" });
}

function answerKept(front: FrontContext, exchange: Exchange, task: KeptTask): void | Promise<void> {
  const { method } = exchange.message;
  if (task.isOver) return answerOver(front, exchange, task);
  if (method === "tasks/result") return refuseRepeated(exchange) ? undefined : waitForResult(front, exchange, task);
  if (method !== "tasks/cancel") return describe(exchange, task);
  task.cancel("the client cancelled the task");
  if (task.ending !== undefined) return task.ending.then(() => answerCancelled(front, exchange, task));
  answerCancelled(front, exchange, task);
}

function waitForResult(front: FrontContext, exchange: Exchange, task: KeptTask): void {
  const hearing = {
    told: () => noteRead(front, exchange, task),
    mayHear: (by?: Principal) =>
      by ? isTold(front, { ...exchange, principal: by }, task) : isTold(front, exchange, task, "still"),
    refuse: () => notFound(front, exchange),
  };
  new TaskResult(exchange, task, hearing).begin();
}

/** It may have ended in another way just before. */
function answerCancelled(front: FrontContext, exchange: Exchange, task: TaskFacts): void {
  if (task.status === "cancelled") describe(exchange, task);
  else answerOver(front, exchange, task);
}

function answerOver(front: FrontContext, exchange: Exchange, task: TaskFacts): void {
  const { message, outlet } = exchange;
  if (message.method === "tasks/result") {
    if (refuseRepeated(exchange)) return;
    noteRead(front, exchange, task);
    return outlet.answer(resultText(message.id, task));
  }
  if (message.method === "tasks/cancel")
    return badParams(exchange, `Cannot cancel task in terminal status: ${task.status}`);
  describe(exchange, task);
}

function describe({ message, outlet }: Exchange, task: TaskFacts): void {
  outlet.answer(answerText(message.id, "result", olderTask(task)));
}
