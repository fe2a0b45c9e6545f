/** The extension for tasks: a call is answered with one where the client has declared that it takes them. */
import { type Call, rpcError } from "../offers/call.ts";
import { findTool, type Method } from "../offers/methods.ts";
import { createTasks, POLL_MS, type Task } from "../offers/task.ts";
import type { Json } from "../sdk.ts";
import { announceTask } from "./listeners.ts";
import { describe, isObject } from "./protocol.ts";

export const EXTENSION = "io.modelcontextprotocol/tasks";

const tasks = createTasks((task) => announceTask(task.id, detail(task)));

export const taskMethods: Readonly<Record<string, Method>> = {
  "tools/call": callTool,
  "tasks/get": (call) => {
    requireExtension(call);
    return detail(tasks.find(call.params.taskId));
  },
  "tasks/update": (call) => {
    requireExtension(call);
    const { pending } = tasks.find(call.params.taskId);
    const { inputResponses } = call.params;
    if (!isObject(inputResponses)) throw rpcError(-32602, "inputResponses is not an object");
    for (const [key, answer] of Object.entries(inputResponses)) {
      if (!isObject(answer)) throw rpcError(-32602, `The answer to ${key} is not an object`);
      pending.get(key)?.answer(answer);
    }
    return {};
  },
  "tasks/cancel": (call) => {
    requireExtension(call);
    tasks.cancel(tasks.find(call.params.taskId));
    return {};
  },
};

/** Whether a listener may hear of this task. */
export function isTask(id: unknown): boolean {
  return tasks.list().some((task) => task.id === id);
}

export function takesTasks(capabilities: Json): boolean {
  return isObject(capabilities.extensions) && isObject(capabilities.extensions[EXTENSION]);
}

async function callTool(call: Call): Promise<Json> {
  const tool = findTool(call);
  if (tool.taskSupport === "required") requireExtension(call);
  if (!takesTasks(call.capabilities)) return await tool.run(call);
  const outcome = await tasks.run(tool, call);
  return "result" in outcome ? outcome.result : { resultType: "task", ...summary(outcome.task) };
}

function requireExtension({ capabilities }: Call): void {
  if (takesTasks(capabilities)) return;
  const requiredCapabilities = { extensions: { [EXTENSION]: {} } };
  throw rpcError(-32021, `The client does not support ${EXTENSION}`, { requiredCapabilities });
}

function summary({ id, status, createdAt, lastUpdatedAt, ttlMs }: Task): Json {
  const [created, updated] = [createdAt, lastUpdatedAt].map((date) => date.toISOString());
  return { taskId: id, status, createdAt: created, lastUpdatedAt: updated, ttlMs, pollIntervalMs: POLL_MS };
}

function detail(task: Task): Json {
  const { status, result, error, pending } = task;
  if (status === "completed") return { ...summary(task), result };
  if (status === "failed") return { ...summary(task), error: describe(error) };
  if (status !== "input_required") return summary(task);
  return {
    ...summary(task),
    inputRequests: Object.fromEntries([...pending].map(([key, { question }]) => [key, question])),
  };
}
