/** A task of 2026-07-28: what it asks and how it ends stands in the task itself, and answers go up with `tasks/update`. */
import {
  type Answer,
  type Ask,
  decodeString,
  GatewayError,
  jsonText,
  type Members,
  type Payload,
  payload,
} from "../../../contract/index.ts";
import { isModern } from "../modern/modern-side.ts";
import { capabilityFault, missingCapability, type Question, readQuestions } from "../modern/questions.ts";
import { UrlQuestions } from "../modern/url-questions.ts";
import { quotedCode } from "../quoted-words.ts";
import type { RunningCall } from "../running-call.ts";
import type { UpstreamSession } from "../upstream-session.ts";
import { DrivenTask, type TaskSide } from "./driven-task.ts";
import { keptTaskIdOf, MODERN_WORDS, readTaskState, type TaskState } from "./task-state.ts";

/** How the call ends when its task does. Both throw JsonFault. */
export type TaskEnds = { onResult(result: Payload): void; onFault(fault: Payload): void };

/** A server that asks for more than this in one task would fill our memory. */
const MAX_QUESTIONS = 256;

/** Sees a call through that the server answered with a task. Throws JsonFault. */
export function driveModernTask(
  running: RunningCall,
  session: UpstreamSession,
  members: Members | undefined,
  ends: TaskEnds,
): ModernTask | undefined {
  const id = keptTaskIdOf(members);
  const state = readTaskState(members, MODERN_WORDS);
  if (id === undefined || !state) {
    const message = "The server answered with a task that cannot be read.";
    running.fail(new GatewayError("PROVIDER_FAILED", { message }));
    return undefined;
  }
  let side: ModernTask | undefined;
  const task = new DrivenTask(running, session, id, (driven) => {
    side = new ModernTask(driven, ends);
    return side;
  });
  // What it asks and how it ended stands only in what `tasks/get` answers.
  task.begin({ ...state, status: "working" });
  return side;
}

export class ModernTask implements TaskSide {
  readonly words = MODERN_WORDS;
  readonly #task: DrivenTask;
  readonly #ends: TaskEnds;
  readonly #urls: UrlQuestions;
  /** The server's keys of all questions that were ever asked. */
  readonly #asked = new Set<string>();
  /** The questions that wait for an answer, by the key of their ask. */
  readonly #open = new Map<string, Question>();
  /** Answers that the server has not got yet. */
  #answers = new Map<string, string>();

  constructor(task: DrivenTask, ends: TaskEnds) {
    this.#task = task;
    this.#ends = ends;
    this.#urls = new UrlQuestions(task.running.call, task.session.context.clock);
  }

  advance({ status, members }: TaskState): boolean {
    if (status === "completed") this.#end(members.textOf("result"));
    else if (status === "failed") this.#endFailed(members.textOf("error"));
    else this.#onQuestions(status === "input_required" ? readQuestions(members, MAX_QUESTIONS) : []);
    return true;
  }

  #end(result = ""): void {
    const type = result.startsWith("{") ? decodeString(payload(result).at(["resultType"])) : "none";
    this.#tellOpened([]);
    if (type === undefined || type === "complete") this.#ends.onResult(payload(result));
    else this.#task.giveUp("The server's task has ended without a result.");
  }

  #endFailed(error = ""): void {
    this.#tellOpened([]);
    if (error.startsWith("{")) this.#ends.onFault(payload(error));
    else this.#task.giveUp("The server's task has failed and does not say why.");
  }

  #onQuestions(questions: readonly Question[] | string): void {
    if (typeof questions === "string") return this.#task.giveUp(questions);
    this.#withdraw(questions);
    this.#tellOpened(questions);
    const fresh = questions.filter(({ key }) => !this.#asked.has(key));
    const { running, session } = this.#task;
    const capabilities = session.context.client?.capabilities;
    const refused = fresh.filter((question) => missingCapability(question, capabilities) !== undefined);
    if (refused.length > 0) this.#refuse(refused);
    else if (this.#asked.size + fresh.length > MAX_QUESTIONS)
      this.#task.giveUp(`The server asks more than ${MAX_QUESTIONS} questions in one task.`);
    else if (fresh.length > 0) running.write({ type: "ask", asks: fresh.map((question) => this.#ask(question)) });
    else if (this.#open.size === 0 && this.#answers.size > 0) void this.#update();
  }

  #ask(question: Question): Ask {
    const { running } = this.#task;
    const { kind, method } = question;
    const key = running.takeKey(question.key);
    this.#asked.add(question.key);
    this.#open.set(key, question);
    return { key, kind, method, input: isModern(running.call) ? question.params : this.#urls.inputOf(question) };
  }

  /** Says what the client would have to declare. The task could never go on. */
  #refuse(questions: readonly Question[]): void {
    const { running, session } = this.#task;
    const [first] = questions;
    const missing = first && missingCapability(first, session.context.client?.capabilities);
    if (!isModern(running.call))
      return this.#task.giveUp(`The server asks for what the client has not declared: ${missing}.`);
    void this.#task.cancel();
    running.endWith(capabilityFault(questions), "fault");
  }

  /** The server does not wait for these any more, although nobody has answered them. */
  #withdraw(questions: readonly Question[]): void {
    for (const [key, question] of this.#open) {
      if (questions.some((one) => one.key === question.key)) continue;
      this.#open.delete(key);
      this.#task.running.write({ type: "notice", method: "notifications/cancelled", payload: payload("{}"), key });
    }
  }

  /** Addresses the server does not ask about any more have been visited. */
  #tellOpened(questions: readonly Question[]): void {
    for (const id of this.#urls.settle(questions))
      this.#task.running.write({
        type: "notice",
        method: "notifications/elicitation/complete",
        payload: payload(`{"elicitationId":${jsonText(id)}}`),
      });
  }

  onAnswer({ key, outcome, payload: body }: Answer): void {
    const question = this.#open.get(key);
    if (!question) return;
    if (outcome === "fault") return this.#task.giveUp(`The client refused ${question.method}, which the server needs.`);
    this.#open.delete(key);
    this.#answers.set(question.key, body.text);
    this.#urls.onAnswer(question, body);
    if (this.#open.size === 0) void this.#update();
  }

  /** Not every server takes answers one by one: they go up when all of them are there. */
  async #update(): Promise<void> {
    const answers = this.#answers;
    this.#answers = new Map();
    const members = [...answers].map(([key, text]) => `"${key}":${text}`).join(",");
    const answer = await this.#task.request("tasks/update", `,"inputResponses":{${members}}`);
    // What did not arrive is sent again when the task has been asked for the next time.
    if (!answer) this.#answers = new Map([...answers, ...this.#answers]);
    else if (answer.outcome === "fault") {
      const code = quotedCode(answer.members);
      this.#task.giveUp(`The server did not take the answers to its questions (code ${code}).`);
    }
  }

  stop(): void {
    this.#open.clear();
    this.#answers.clear();
  }
}
