/** One tasks/result for a kept task: waits for its end, and asks the client meanwhile what the task wants to know. */
import { jsonText, type Principal, payload } from "../../contract/index.ts";
import type { KeptTask, TaskFacts } from "../../mechanisms/runs/index.ts";
import type { RunningCall, Session } from "../../mechanisms/sessions/index.ts";
import { answerText, errorText } from "../../wire/jsonrpc/index.ts";
import type { Exchange } from "./calls.ts";
import { errorParts } from "./mcp-errors.ts";
import { relatedTo } from "./older-task.ts";
import type { Outlet, OutletOwner } from "./outlet.ts";
import { questionsOf, type TaskStream } from "./task-questions.ts";

/** Whether its caller, or another token of it, may hear of the task: that can change while it waits. `told`: the result goes to it. */
type Hearing = {
  readonly mayHear: (by?: Principal) => boolean;
  readonly refuse: () => void;
  readonly told: () => void;
};

export class TaskResult implements RunningCall, OutletOwner, TaskStream {
  readonly session: Session;
  readonly run = undefined;
  readonly cursor = -1;
  readonly #task: KeptTask;
  readonly #requestId: string;
  readonly #outlet: Outlet;
  readonly #hearing: Hearing;
  #stop: (() => void) | undefined;
  #isOver = false;

  constructor({ session, message, outlet }: Exchange, task: KeptTask, hearing: Hearing) {
    this.session = session;
    this.#hearing = hearing;
    this.#task = task;
    this.#requestId = message.id;
    this.#outlet = outlet;
  }

  /** Waits, unless the task is over already. */
  begin(): void {
    if (this.#task.isOver) return this.#answer();
    this.#stop = this.#task.watch(() => this.#look());
    if (!this.#stop) {
      const error = { code: -32603, message: "Too many requests wait for this task" };
      return this.#outlet.answer(errorText(this.#requestId, error));
    }
    this.session.addRunning(this.#requestId, this);
    this.#outlet.bind(this);
    if (!this.#isOver) questionsOf(this.#task).join(this);
  }

  get canBeAsked(): boolean {
    if (this.session.isEphemeral || !this.#hearing.mayHear()) return false;
    return this.#outlet.canStream || this.session.outbox?.isOpen === true;
  }

  mayHear(by: Principal): boolean {
    return this.#hearing.mayHear(by);
  }

  /** On its own stream; where it can have none, on the session's. */
  say(text: string): void {
    if (this.#outlet.canStream) this.#outlet.send(text, -1);
    else this.session.outbox?.push({ type: "ask", text });
  }

  #look(): void {
    questionsOf(this.#task).look();
    if (!this.#task.isOver) return;
    this.#leave();
    this.#answer();
  }

  #answer(): void {
    if (!this.#hearing.mayHear()) return this.#hearing.refuse();
    this.#hearing.told();
    this.#outlet.answer(resultText(this.#requestId, this.#task));
  }

  /** Nothing follows. The task does not mind. */
  #leave(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#stop?.();
    this.session.dropRunning(this.#requestId, this);
    questionsOf(this.#task).leave(this);
    return true;
  }

  cancel(): void {
    if (this.#leave()) this.#outlet.drop();
  }

  abandon(): void {
    this.cancel();
  }

  left(): void {
    this.#leave();
  }

  resume(): void {}
}

/** What the call would have been answered with. */
export function resultText(requestId: string, task: TaskFacts): string {
  const { end, id } = task;
  if (!end) return errorText(requestId, { code: -32602, message: "The task was cancelled: it has no result" });
  if (end.type === "end" && end.outcome === "fault") return answerText(requestId, "fault", end.payload);
  if (end.type === "end") return answerText(requestId, "result", relatedTo(task, end.payload));
  const parts = errorParts("tools/call", end.error, id);
  if ("error" in parts) return errorText(requestId, parts.error);
  return answerText(requestId, "result", relatedTo(task, payload(jsonText(parts.result))));
}
