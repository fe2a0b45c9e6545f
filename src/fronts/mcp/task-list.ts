/** tasks/list: the tasks that the gateway keeps, and those that providers run, together. */
import { type CallEvent, payload, type Reader, type TaskRecord } from "../../contract/index.ts";
import { answerText } from "../../wire/jsonrpc/index.ts";
import { badParams, type Exchange, viewOf } from "./calls.ts";
import type { FrontContext } from "./front-context.ts";
import { listedTask } from "./listed-task.ts";
import { olderTask } from "./older-task.ts";
import { mayHear, type ToldTask } from "./told-tasks.ts";

const MAX_LISTED = 100;
const AT_ONCE = 8;

/** Asks each task's provider about it. A task whose provider does not answer is left out. */
export async function listTasks(front: FrontContext, exchange: Exchange): Promise<void> {
  const { message, session, outlet } = exchange;
  if (message.members?.has("cursor")) return badParams(exchange, "The cursor is not valid");
  const view = viewOf(front, exchange);
  const place = { catalog: session.catalog, principal: exchange.principal };
  const isWanted = (task: ToldTask) => mayHear(front, place, task);
  const kept = await front.tasks.list(session.principal, { limit: MAX_LISTED, isWanted });
  const records = await front.runs.tasksOf(session.principal);
  const shown = records.filter((task) => mayHear(front, place, task) && view.raw(task.target.provider, "tasks/get"));
  const newest = shown.slice(0, MAX_LISTED - kept.length);
  const found: (string | undefined)[] = new Array(newest.length).fill(undefined);
  let next = 0;
  async function work(): Promise<void> {
    for (let index = next++; index < newest.length; index = next++) {
      found[index] = await askAbout(front, exchange, newest[index] as TaskRecord);
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const tasks = [...kept.map((task) => olderTask(task).text), ...found.filter((text) => text !== undefined)];
  if (session.isEnded) return outlet.drop();
  outlet.answer(answerText(message.id, "result", payload(`{"tasks":[${tasks.join(",")}]}`)));
}

/** The task as its provider describes it now. */
function askAbout(front: FrontContext, exchange: Exchange, record: TaskRecord): Promise<string | undefined> {
  const { session, message } = exchange;
  const entry = viewOf(front, exchange).raw(record.target.provider, "tasks/get");
  if (!entry) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const reader: Reader = {
      keeps: false,
      take(event: CallEvent) {
        if (event.type === "end") resolve(event.outcome === "result" ? listedTask(event.payload.text) : undefined);
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
        principal: exchange.principal,
        session,
        origin: { front: "mcp", protocol: session.protocol, requestId: message.id },
        life: "detached",
        parent: record.id,
        resumes: record.id,
        task: record,
      },
      reader,
    );
  });
}
