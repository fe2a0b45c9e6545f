/** tasks/get, tasks/update and tasks/cancel: for whoever declares the extension, about tasks of its own, of calls that it may make. */
import { decodeString, type Payload, payload } from "../../../contract/index.ts";
import type { KeptTask, TaskFacts } from "../../../mechanisms/runs/index.ts";
import { revision20260728, TASKS_EXTENSION } from "../../../wire/mcp/2026-07-28/index.ts";
import { noteRefused } from "../calls.ts";
import type { FrontContext } from "../front-context.ts";
import { answerElsewhere } from "../posted.ts";
import { mayHear, noteRead } from "../told-tasks.ts";
import { plainAnswer } from "./call-answer.ts";
import { answerError, badParams } from "./calls.ts";
import type { ModernExchange } from "./exchange.ts";
import { answersOf, BAD_ANSWERS } from "./input-responses.ts";
import { capabilityMissing } from "./modern-errors.ts";
import { taskDetails } from "./task-details.ts";

const TASKS_MISSING = capabilityMissing({ extensions: { [TASKS_EXTENSION]: {} } });

const DONE = payload("{}");

export function isTaskMethod(method: string): boolean {
  return method.startsWith("tasks/") && revision20260728.methods.has(method);
}

/** A promise where the task is not here, or its end has to become durable first. */
export function handleTask(front: FrontContext, exchange: ModernExchange): Promise<void> | undefined {
  const { message, principal } = exchange;
  if (!exchange.hasTasks) return void answerError(exchange, TASKS_MISSING);
  const id = decodeString(message.members?.textOf("taskId"));
  if (id === undefined) return void answerError(exchange, badParams("params.taskId must be a string"));
  const task = front.tasks.find(id, principal);
  if (!task) return handleDistant(front, exchange, id);
  if (!mayHear(front, exchange, task, "asked")) return void notFound(front, exchange);
  if (message.method === "tasks/get") return void tell(front, exchange, task);
  if (message.method === "tasks/update") return void update(front, exchange, task);
  task.cancel("the client cancelled the task");
  if (task.ending !== undefined) return task.ending.then(() => answer(front, exchange, DONE));
  return void answer(front, exchange, DONE);
}

/** It is not here: its row says how it ended, or where it runs. */
async function handleDistant(front: FrontContext, exchange: ModernExchange, id: string): Promise<void> {
  const found = await front.tasks.seek(id, exchange.principal);
  if (!found || !mayHear(front, exchange, found.task, "asked")) return notFound(front, exchange);
  if (found.type === "elsewhere") return await answerElsewhere(exchange.posted, found.home);
  const { method } = exchange.message;
  if (method === "tasks/get") tell(front, exchange, found.task);
  else if (method === "tasks/update") update(front, exchange, undefined);
  else answer(front, exchange, DONE);
}

function tell(front: FrontContext, exchange: ModernExchange, task: TaskFacts): void {
  noteRead(front, exchange, task);
  answer(front, exchange, taskDetails(front, task));
}

function notFound(front: FrontContext, exchange: ModernExchange): void {
  noteRefused(front, exchange, "task", exchange.message.method);
  answerError(exchange, badParams("There is no such task, or its time is over"));
}

/** Answers to what is not asked, or not any more, change nothing. */
function update(front: FrontContext, exchange: ModernExchange, task: KeptTask | undefined): void {
  const { message } = exchange;
  const answers = message.members?.has("inputResponses") ? answersOf(message) : undefined;
  if (!answers) return answerError(exchange, BAD_ANSWERS);
  task?.answer([...answers].map(([key, body]) => ({ key, outcome: "result", payload: body })));
  answer(front, exchange, DONE);
}

function answer(front: FrontContext, { message, outlet }: ModernExchange, result: Payload): void {
  outlet.answer(plainAnswer(front, message.id, result).text);
}
