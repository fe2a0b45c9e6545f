/**
 * A task of the 2025 era. Its questions and its result come on the stream of `tasks/result`, so one is kept open from the
 * first question on.
 */
import { GatewayError, jsonText, membersAt, payload } from "../../../contract/index.ts";
import { type Message, requestText } from "../../../wire/jsonrpc/index.ts";
import { routeNotification, routeRequest } from "../incoming.ts";
import { legacyTaskEnd } from "../legacy-end.ts";
import type { RunningCall } from "../running-call.ts";
import type { RequestSink, RequestStream, UpstreamFailure } from "../transport.ts";
import type { UpstreamSession } from "../upstream-session.ts";
import { DrivenTask, type TaskSide } from "./driven-task.ts";
import { keptTaskIdOf, LEGACY_WORDS, readTaskState, type TaskState } from "./task-state.ts";

/** Statuses from here on say that the server may do better another time. */
const SERVER_TROUBLE = 500;

/** Sees a call through that the server answered with a task. `text`: what it says about the task. Throws JsonFault. */
export function driveLegacyTask(running: RunningCall, session: UpstreamSession, text: string): void {
  const members = membersAt(text, 0);
  const id = keptTaskIdOf(members);
  const state = readTaskState(members, LEGACY_WORDS);
  if (id !== undefined && state) new DrivenTask(running, session, id, (task) => new LegacyTask(task)).begin(state);
  else
    running.fail(
      new GatewayError("PROVIDER_FAILED", { message: "The server answered with a task that cannot be read." }),
    );
}

class LegacyTask implements TaskSide, RequestSink {
  readonly words = LEGACY_WORDS;
  /** Of the open `tasks/result`; "" while there is none. */
  id = "";
  readonly #task: DrivenTask;
  #stream: RequestStream | undefined;
  #hasFailed = false;

  constructor(task: DrivenTask) {
    this.#task = task;
  }

  advance({ status }: TaskState): boolean {
    this.#hasFailed = status === "failed";
    if (this.id === "" && status === "working") return true;
    if (this.id === "") this.#openResult();
    return false;
  }

  #openResult(): void {
    const { session, running, id } = this.#task;
    this.id = session.begin(this);
    const text = requestText(this.id, "tasks/result", payload(`{"taskId":${jsonText(id)}}`));
    this.#stream = session.transport.request(text, this, { isLong: true });
    running.readFrom(this.#stream);
  }

  onMessage(message: Message): void {
    const { session, running } = this.#task;
    if (message.kind === "notification") routeNotification(session, message, running);
    else if (message.kind === "request") routeRequest(session, message, running);
    else {
      this.#close();
      void this.#onResult(message);
    }
  }

  async #onResult(message: Message): Promise<void> {
    const { running } = this.#task;
    try {
      const isCancelled = message.outcome === "fault" && !this.#hasFailed && (await this.#isCancelled());
      if (isCancelled) this.#task.endCancelled();
      else running.endAs(legacyTaskEnd(running, message));
    } catch (error) {
      this.#task.fail(error);
    }
  }

  /** An error may be the task's own, or say that a cancelled task has no result. */
  async #isCancelled(): Promise<boolean> {
    const answer = await this.#task.request("tasks/get");
    return readTaskState(answer?.members, LEGACY_WORDS)?.status === "cancelled";
  }

  onFailure(failure: UpstreamFailure): void {
    this.#close();
    if (this.#task.isOver) return;
    const isUnusable = failure.kind === "invalid" && (failure.status ?? 0) < SERVER_TROUBLE;
    if (isUnusable) this.#task.giveUp(failure.message);
    else if (failure.kind === "expired") this.#task.onFailure(failure);
    else this.#task.pollLater(); // the server keeps the task, and its result
  }

  #close(): void {
    if (this.id !== "") this.#task.session.forget(this.id);
    this.id = "";
    this.#stream?.abort();
    this.#stream = undefined;
  }

  stop(): void {
    this.#close();
  }
}
