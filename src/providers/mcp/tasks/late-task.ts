/**
 * A call that was cancelled before its server had answered with the task that it was to become. Only a task that is known
 * can be cancelled, so the answer is awaited for a while.
 */
import { membersAt, type Timer } from "../../../contract/index.ts";
import type { Message } from "../../../wire/jsonrpc/index.ts";
import type { RequestStream } from "../transport.ts";
import type { UpstreamSession } from "../upstream-session.ts";
import { cancelTask } from "./driven-task.ts";
import { taskIdOf } from "./task-state.ts";

const LATE_MS = 10_000;

export class LateTask {
  readonly #session: UpstreamSession;
  readonly #timer: Timer;

  /** `id`: that of the request. */
  constructor(session: UpstreamSession, id: string, stream: RequestStream | undefined) {
    this.#session = session;
    this.#timer = session.context.timers.after(LATE_MS, () => {
      session.forget(id);
      stream?.abort();
    });
  }

  /** Throws JsonFault. */
  onAnswer({ members }: Message): void {
    this.stop();
    const id = taskIdOf(membersAt(members?.textOf("task") ?? "", 0));
    if (id !== undefined) cancelTask(this.#session, id);
  }

  /** No answer will come. */
  stop(): void {
    this.#timer.cancel();
  }
}
