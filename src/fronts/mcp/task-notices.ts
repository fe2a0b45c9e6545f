/** What the session that made a task hears of it outside its requests: its status, progress and log lines. */
import { type CallEvent, type Payload, payload } from "../../contract/index.ts";
import type { KeptTask } from "../../mechanisms/runs/index.ts";
import type { OutboxItem, Session } from "../../mechanisms/sessions/index.ts";
import { notificationText } from "../../wire/jsonrpc/index.ts";
import type { FrontContext } from "./front-context.ts";
import { passesLevel } from "./log-level.ts";
import { olderTask, relatedTo } from "./older-task.ts";

export class TaskNotices {
  readonly #front: FrontContext;
  readonly #session: Session;
  readonly #token: string | undefined;
  #task: KeptTask | undefined;

  /** `token`: under which the client wants to hear of progress. */
  constructor(front: FrontContext, session: Session, token: string | undefined) {
    this.#front = front;
    this.#session = session;
    this.#token = token;
  }

  /** Of what the client has not heard yet, the last counts. */
  begin(task: KeptTask): void {
    this.#task = task;
    const method = "notifications/tasks/status";
    task.watch(() => this.#push({ type: "notice", key: `task ${task.id}` }, method, olderTask(task)));
  }

  overhear(event: CallEvent): void {
    const task = this.#task;
    if (!task) return;
    if (event.type === "progress" && this.#token !== undefined) {
      const told = relatedTo(task, payload(event.payload.text).splice(["progressToken"], this.#token));
      this.#push({ type: "log", key: `progress ${task.id}` }, "notifications/progress", told);
    } else if (event.type === "log" && passesLevel(this.#session, event.payload)) {
      this.#push({ type: "log" }, "notifications/message", relatedTo(task, payload(event.payload.text)));
    }
  }

  #push(item: Omit<OutboxItem, "text">, method: string, params: Payload): void {
    if (this.#session.isEnded || this.#session.isEphemeral) return;
    this.#front.sessions.outboxOf(this.#session).push({ ...item, text: notificationText(method, params) });
  }
}
