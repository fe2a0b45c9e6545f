/** Tasks of 2025-11-25: the client asks for one with the call, and fetches its result with a request that waits. */
import { EventEmitter, once } from "node:events";
import { type Call, rpcError } from "../offers/call.ts";
import { findTool, tools } from "../offers/methods.ts";
import { createTasks, hasEnded, POLL_MS, type Task, type Tasks } from "../offers/task.ts";
import type { Tool } from "../offers/tool.ts";
import type { Json } from "../sdk.ts";

/** Names the task that a message belongs to. */
export const RELATED = "io.modelcontextprotocol/related-task";

/** The tasks of one session, and an event named by its id for every change of one. */
export type SessionTasks = { readonly tasks: Tasks; readonly changes: EventEmitter; close(): void };

/**
 * In this revision it is the client that wants a task, unless the tool demands it. These do, so that the suite for
 * 2026-07-28, where the server decides, gets its tasks.
 */
const DEMANDING: ReadonlySet<string> = new Set(["slow_compute", "confirm_delete", "multi_input"]);

type Method = (call: Call, session: { readonly tasks: SessionTasks }) => Json | Promise<Json>;

/** `notify` sends a notification outside of any call. */
export function createSessionTasks(notify: (method: string, params: Json) => void): SessionTasks {
  const changes = new EventEmitter();
  const tasks = createTasks((task) => {
    changes.emit(task.id);
    notify("notifications/tasks/status", summary(task));
  });
  return {
    tasks,
    changes,
    close() {
      for (const task of tasks.list()) tasks.cancel(task);
    },
  };
}

export const taskMethods: Readonly<Record<string, Method>> = {
  "tools/list": () => ({
    tools: tools().map((tool) => {
      const { run: _, taskSupport: __, ...listed } = tool;
      const taskSupport = supportOf(tool);
      return taskSupport === undefined ? listed : { ...listed, execution: { taskSupport } };
    }),
  }),
  "tools/call": callTool,
  "tasks/get": ({ params }, { tasks: { tasks } }) => summary(tasks.find(params.taskId)),
  "tasks/list": (_, { tasks: { tasks } }) => ({ tasks: tasks.list().map(summary) }),
  "tasks/cancel": ({ params }, { tasks: { tasks } }) => {
    const task = tasks.find(params.taskId);
    if (hasEnded(task)) throw rpcError(-32602, `Cannot cancel a task that is ${statusOf(task)}`);
    tasks.cancel(task);
    return summary(task);
  },
  "tasks/result": waitForResult,
};

function supportOf({ name, taskSupport }: Tool): Tool["taskSupport"] {
  return DEMANDING.has(name) ? "required" : taskSupport;
}

async function callTool(call: Call, { tasks: { tasks } }: { readonly tasks: SessionTasks }): Promise<Json> {
  const tool = findTool(call);
  const given = call.params.task as { ttl?: number } | undefined;
  const taskSupport = supportOf(tool);
  const isFitting = given === undefined ? taskSupport !== "required" : taskSupport !== undefined;
  if (!isFitting) throw rpcError(-32601, `${tool.name} is ${given === undefined ? "only" : "never"} a task`);
  if (given === undefined) return await tool.run(call);
  const outcome = await tasks.run(tool, call, given.ttl);
  return "result" in outcome ? outcome.result : { task: summary(outcome.task) };
}

/** Asks on this stream whatever the task asks, until it ends. */
async function waitForResult(call: Call, { tasks }: { readonly tasks: SessionTasks }): Promise<Json> {
  const task = tasks.tasks.find(call.params.taskId);
  const asked = new Set<string>();
  while (!hasEnded(task)) {
    const news = [...task.pending.keys()].filter((key) => !asked.has(key));
    for (const key of news) void pass(task, key, call);
    for (const key of news) asked.add(key);
    await once(tasks.changes, task.id, { signal: call.signal });
  }
  if (task.status === "cancelled") throw rpcError(-32603, "The task was cancelled");
  if (task.status === "failed") throw task.error;
  return { ...task.result, _meta: { [RELATED]: { taskId: task.id } } };
}

async function pass(task: Task, key: string, call: Call): Promise<void> {
  const question = task.pending.get(key)?.question;
  if (question === undefined) return;
  try {
    const { [key]: given = {} } = await call.ask({ [key]: question });
    task.pending.get(key)?.answer(given);
  } catch (error) {
    // The client may fetch the result anew, and is then asked anew.
    if (!call.signal.aborted) task.pending.get(key)?.refuse(error);
  }
}

function summary(task: Task): Json {
  const { id, createdAt, lastUpdatedAt, ttlMs } = task;
  const [created, updated] = [createdAt, lastUpdatedAt].map((date) => date.toISOString());
  return {
    taskId: id,
    status: statusOf(task),
    createdAt: created,
    lastUpdatedAt: updated,
    ttl: ttlMs,
    pollInterval: POLL_MS,
  };
}

/** In this revision a task whose tool reports an error has failed. */
function statusOf({ status, result }: Task): Task["status"] {
  return status === "completed" && result?.isError === true ? "failed" : status;
}
