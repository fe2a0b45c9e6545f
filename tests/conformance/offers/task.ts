/** Work that goes on after its call was answered. Each fixture shows it in its own wire form. */
import { randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { Json } from "../sdk.ts";
import { type Call, type Question, rpcError } from "./call.ts";
import type { Tool } from "./tool.ts";

type Pending = { readonly question: Question; answer(value: Json): void; refuse(error: unknown): void };

export type Task = {
  readonly id: string;
  readonly createdAt: Date;
  readonly ttlMs: number;
  readonly controller: AbortController;
  lastUpdatedAt: Date;
  status: "working" | "input_required" | "completed" | "failed" | "cancelled";
  /** Questions without an answer yet, by key. */
  readonly pending: Map<string, Pending>;
  /** What the call would have been answered with: one of them, once the task has ended. */
  result?: Json;
  error?: unknown;
};

export type Tasks = {
  /** Throws for an id that is unknown or out of date. */
  find(id: unknown): Task;
  list(): readonly Task[];
  /** Ends the tool; nothing happens to a task that has ended. */
  cancel(task: Task): void;
  /** Runs the tool. Resolves with its result, or with the task that it has become. */
  run(tool: Tool, call: Call, ttlMs?: number): Promise<{ result: Json } | { task: Task }>;
};

/** How often a client is to ask, at most. */
export const POLL_MS = 100;

const TTL_MS = 60_000;

/** `changed` hears of every change of a task's state. */
export function createTasks(changed: (task: Task) => void): Tasks {
  const tasks = new Map<string, Task>();

  function create(ttlMs: number): Task {
    const now = new Date();
    const controller = new AbortController();
    const task: Task = {
      id: randomUUID(),
      createdAt: now,
      ttlMs,
      controller,
      lastUpdatedAt: now,
      status: "working",
      pending: new Map(),
    };
    tasks.set(task.id, task);
    return task;
  }

  function change(task: Task, news: Partial<Pick<Task, "status" | "result" | "error">>): void {
    if (hasEnded(task)) return;
    Object.assign(task, news, { lastUpdatedAt: new Date() });
    if (hasEnded(task)) task.pending.clear();
    changed(task);
  }

  async function askOne(task: Task, key: string, question: Question): Promise<[string, Json]> {
    const { promise, resolve, reject } = Promise.withResolvers<Json>();
    const settle = (): void => {
      task.pending.delete(key);
      change(task, { status: task.pending.size === 0 ? "working" : "input_required" });
    };
    task.pending.set(key, {
      question,
      answer(value) {
        settle();
        resolve(value);
      },
      refuse(error) {
        settle();
        reject(error);
      },
    });
    return [key, await promise];
  }

  return {
    find(id) {
      const task = tasks.get(String(id));
      const isKept = task !== undefined && Date.now() < task.createdAt.getTime() + task.ttlMs;
      if (!isKept) throw rpcError(-32602, `Task not found: ${id}`);
      return task;
    },

    list: () => [...tasks.values()],

    cancel(task) {
      change(task, { status: "cancelled" });
      task.controller.abort();
    },

    async run(tool, call, ttlMs = TTL_MS) {
      let task: Task | undefined;
      const begun = Promise.withResolvers<{ task: Task }>();

      function startTask(): Pick<Call, "ask" | "signal"> {
        const started = create(ttlMs);
        task = started;
        begun.resolve({ task: started });
        return {
          signal: started.controller.signal,
          async ask(questions) {
            // A task begins at work: let the answer to the call go out first.
            await setImmediate();
            const asked = Object.entries(questions).map(([key, question]) => askOne(started, key, question));
            change(started, { status: "input_required" });
            return Object.fromEntries(await Promise.all(asked));
          },
        };
      }

      const running = tool.run({ ...call, startTask }).then(
        (result) => {
          if (task !== undefined) change(task, { status: "completed", result });
          return { result };
        },
        (error) => {
          if (task === undefined) throw error;
          change(task, { status: "failed", error });
          return { task };
        },
      );
      return await Promise.race([begun.promise, running]);
    },
  };
}

export function hasEnded({ status }: Task): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}
