/** Tasks of 2025-11-25: a task is spoken about with the provider that runs it, under the id of the call that made it. */
import { type CallEvent, decodeString, payload, type Reader, type TaskRecord } from "../../contract/index.ts";
import { answerText } from "../../wire/jsonrpc/index.ts";
import { badParams, type Exchange, startCall, viewOf } from "./calls.ts";
import type { FrontContext } from "./front-context.ts";

const MAX_LISTED = 100;
const AT_ONCE = 8;
const LONGEST_WAIT_MS = 24 * 60 * 60_000;

/** tasks/get, tasks/result and tasks/cancel. Another principal's task does not exist. */
export function callTask(front: FrontContext, exchange: Exchange): void {
  const { message, session } = exchange;
  const id = decodeString(message.members?.textOf("taskId"));
  if (id === undefined) return badParams(exchange, "params.taskId must be a string");
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

/** tasks/list: asks each task's provider about it. A task whose provider does not answer is left out. */
export async function listTasks(front: FrontContext, exchange: Exchange): Promise<void> {
  const { message, session, outlet } = exchange;
  if (message.members?.has("cursor")) return badParams(exchange, "The cursor is not valid");
  const view = viewOf(front, session);
  const records = front.runs.tasksOf(session.principal).filter(({ target }) => view.raw(target.provider, "tasks/get"));
  const newest = [...records].reverse().slice(0, MAX_LISTED);
  const found: (string | undefined)[] = new Array(newest.length).fill(undefined);
  let next = 0;
  async function work(): Promise<void> {
    for (let index = next++; index < newest.length; index = next++) {
      found[index] = await askAbout(front, exchange, newest[index] as TaskRecord);
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const tasks = found.filter((text) => text !== undefined);
  if (session.isEnded) return outlet.drop();
  outlet.answer(answerText(message.id, "result", payload(`{"tasks":[${tasks.join(",")}]}`)));
}

/** The task as its provider describes it now. */
function askAbout(front: FrontContext, exchange: Exchange, record: TaskRecord): Promise<string | undefined> {
  const { session, message } = exchange;
  const entry = viewOf(front, session).raw(record.target.provider, "tasks/get");
  if (!entry) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const reader: Reader = {
      keeps: false,
      take(event: CallEvent) {
        if (event.type === "end") resolve(event.outcome === "result" ? event.payload.text : undefined);
        else if (event.type === "error") resolve(undefined);
        return true;
      },
    };
    front.runs.start(
      {
        entry,
        verb: "raw",
        method: "tasks/get",
        input: payload(`{"taskId":${JSON.stringify(record.id)}}`),
        principal: front.principal,
        session,
        origin: { front: "mcp", protocol: session.protocol, requestId: message.id },
        life: "detached",
        parent: record.id,
        resumes: record.id,
      },
      reader,
    );
  });
}
