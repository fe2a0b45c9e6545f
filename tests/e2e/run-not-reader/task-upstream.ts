/** A server with one tool that runs as a task and asks a question before it ends. Tasks belong to upstream sessions. */
import { McpUpstream, type UpstreamCall } from "../../hostile/kit/mcp-upstream.ts";
import type { RpcMessage } from "../kit/rpc.ts";

const RELATED = "io.modelcontextprotocol/related-task";
/** Ids of the server's own: they must never be seen outside. */
const SECRET_ID = "upstream-task-id";

type Task = {
  id: string;
  session: string;
  status: string;
  answer?: unknown;
  waiting?: UpstreamCall;
  questions: number;
};

export type TaskUpstream = McpUpstream & { readonly task: () => Task };

export async function startTaskUpstream(options: { ttl?: number; hasSessions?: boolean } = {}): Promise<TaskUpstream> {
  const { ttl = 60_000, hasSessions = true } = options;
  let task: Task | undefined;
  const facts = (one: Task) => ({
    taskId: one.id,
    status: one.status,
    createdAt: "2026-01-01T00:00:00Z",
    lastUpdatedAt: "2026-01-01T00:00:00Z",
    ttl,
    pollInterval: 100,
  });
  const result = (one: Task) => ({
    content: [{ type: "text", text: `it is ${JSON.stringify(one.answer)}` }],
    _meta: { [RELATED]: { taskId: one.id } },
  });

  function onTask(call: UpstreamCall, one: Task | undefined): void {
    if (!one || call.session !== one.session) return call.fail({ code: -32602, message: "no such task here" });
    if (call.message.method === "tasks/get") return call.answer(facts(one));
    if (call.message.method === "tasks/cancel") {
      one.status = "cancelled";
      return call.answer(facts(one));
    }
    if (one.answer !== undefined) return call.answer(result(one));
    one.waiting = call;
    call.send({
      id: `question-${++one.questions}`,
      method: "elicitation/create",
      params: {
        message: "Which one?",
        requestedSchema: { type: "object", properties: { which: { type: "string" } } },
        _meta: { [RELATED]: { taskId: one.id } },
      },
    });
  }

  const upstream = await McpUpstream.start({
    tools: [{ name: "research", execution: { taskSupport: "optional" } }],
    capabilities: { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
    hasSessions,
    onCall(call) {
      if (call.message.method?.startsWith("tasks/")) return onTask(call, task);
      task = { id: SECRET_ID, session: call.session, status: "input_required", questions: 0 };
      call.answer({ task: facts(task) });
    },
    onRequest(message, _request, response) {
      if (!task || message.method !== undefined || message.id !== `question-${task.questions}`) return false;
      task.answer = message.result ?? message.error;
      task.status = "completed";
      response.writeHead(202).end();
      task.waiting?.answer(result(task));
      return true;
    },
  });
  return Object.assign(upstream, { task: () => task as Task });
}

/** The id of the task that a call became. */
export function taskIdOf(answer: RpcMessage | undefined): string {
  const task = answer?.result?.task as { taskId: string } | undefined;
  if (!task) throw new Error(`no task in ${JSON.stringify(answer)}`);
  return task.taskId;
}
