/**
 * The questions of one kept task on the streams of its tasks/result requests. Each is with one stream at a time: it is
 * asked once, and again, under the same id, only where the stream was lost before the answer.
 *
 * Invariants:
 *  1. `#asked` holds a question from when it first goes out until it is answered or nobody wants to know any more.
 *  2. A question in `#asked` is on the books of its session, under its id.
 */
import { type Answer, type Ask, GatewayError, type Principal, payload } from "../../contract/index.ts";
import type { KeptTask } from "../../mechanisms/runs/index.ts";
import type { Session } from "../../mechanisms/sessions/index.ts";
import { notificationText } from "../../wire/jsonrpc/index.ts";
import { askFor, askText } from "./asks.ts";
import { relatedTo } from "./older-task.ts";

/** A request that waits for the result of a task, and can be asked meanwhile. */
export interface TaskStream {
  readonly session: Session;
  readonly canBeAsked: boolean;
  /** Whether this caller may hear of the task. */
  mayHear(by: Principal): boolean;
  say(text: string): void;
}

type Asked = { readonly session: Session; readonly id: string; stream: TaskStream | undefined };

const QUESTIONS = new WeakMap<KeptTask, TaskQuestions>();

export function questionsOf(task: KeptTask): TaskQuestions {
  const questions = QUESTIONS.get(task) ?? new TaskQuestions(task);
  QUESTIONS.set(task, questions);
  return questions;
}

export class TaskQuestions {
  readonly #task: KeptTask;
  readonly #asked = new Map<string, Asked>();
  readonly #streams = new Set<TaskStream>();

  constructor(task: KeptTask) {
    this.#task = task;
    task.watch(() => this.look());
  }

  join(stream: TaskStream): void {
    this.#streams.add(stream);
    this.look();
  }

  /** The stream is gone: what it was asked goes to another one, now or later. */
  leave(stream: TaskStream): void {
    this.#streams.delete(stream);
    for (const asked of this.#asked.values()) if (asked.stream === stream) asked.stream = undefined;
    this.look();
  }

  /** The task has changed, or who waits for it. */
  look(): void {
    for (const key of [...this.#asked.keys()]) if (!this.#task.isPending(key)) this.#withdraw(key);
    for (const ask of this.#task.pending) this.#offer(ask);
  }

  #offer(ask: Ask): void {
    const former = this.#asked.get(ask.key);
    if (former?.stream) return;
    for (const stream of this.#streams) {
      const asked = stream.canBeAsked ? askFor(stream.session, ask) : undefined;
      if (!asked) continue;
      const id = former?.session === stream.session ? former.id : this.#book(ask, stream, former);
      this.#asked.set(ask.key, { session: stream.session, id, stream });
      return stream.say(askText(id, { ...asked, input: relatedTo(this.#task, payload(asked.input.text)) }));
    }
  }

  /** The id under which this session is asked. Another one that was asked before need not answer. */
  #book(ask: Ask, stream: TaskStream, former: Asked | undefined): string {
    former?.session.asks?.delete(former.id);
    const settle = (answer: Answer | GatewayError) => {
      if (!GatewayError.is(answer)) return this.#task.answer([answer]);
      this.#asked.delete(ask.key);
      this.look();
    };
    const mayAnswer = (by: Principal) => stream.mayHear(by);
    return stream.session.addAsk({ key: ask.key, settle, mayAnswer, isAnswered: false });
  }

  /** Answered, or whoever asked does without. A client that still thinks about it is told. */
  #withdraw(key: string): void {
    const asked = this.#asked.get(key);
    this.#asked.delete(key);
    if (!asked?.session.asks?.delete(asked.id)) return;
    asked.stream?.say(notificationText("notifications/cancelled", payload(`{"requestId":${asked.id}}`)));
  }
}
