/**
 * A server of 2026-07-28 wants more input, and whoever made the call can only be asked: the questions go out as one round
 * of asks, and the call is sent again with the answers.
 */
import {
  type Answer,
  type Ask,
  GatewayError,
  jsonText,
  MAX_OPEN_ASKS,
  type Payload,
  payload,
  type Timer,
} from "../../../contract/index.ts";
import type { Message } from "../../../wire/jsonrpc/index.ts";
import type { RunningCall } from "../running-call.ts";
import type { UpstreamSession } from "../upstream-session.ts";
import { missingCapability, NO_QUESTIONS, type Question, readQuestions } from "./questions.ts";
import { UrlQuestions } from "./url-questions.ts";

const MAX_ROUNDS = 10;
/** Pauses before a call is sent again that has only a state to bring. */
const MIN_PAUSE_MS = 100;
const MAX_PAUSE_MS = 250;

// Invariants:
//  1. While a round waits for answers or for its pause, nothing of the call runs at the server, and the slot knows of it.
//  2. `#answers` are those of the present round alone.
export class InputRounds {
  readonly #running: RunningCall;
  readonly #urls: UrlQuestions;
  readonly #again: (params: Payload) => void;
  /** The questions that wait for an answer, by the key of their ask. */
  readonly #open = new Map<string, Question>();
  #answers = new Map<string, string>();
  #state: string | undefined;
  #round = 0;
  #timer: Timer | undefined;
  #session: UpstreamSession | undefined;

  /** `again`: sends the call once more. */
  constructor(running: RunningCall, session: UpstreamSession, again: (params: Payload) => void) {
    this.#running = running;
    this.#urls = new UrlQuestions(running.call, session.context.clock);
    this.#again = again;
  }

  /** The server answered `input_required`. Throws JsonFault. */
  begin({ members }: Message, session: UpstreamSession): void {
    const questions = readQuestions(members, MAX_OPEN_ASKS);
    const state = members?.textOf("requestState");
    if (typeof questions === "string") return this.#fail(questions);
    if (questions.length === 0 && state === undefined) return this.#fail(NO_QUESTIONS);
    this.#answers = new Map();
    this.#state = state;
    const asked = questions.filter((question) => !this.#answerAgain(question));
    this.#tellOpened(questions);
    const isPoll = asked.length === 0 && questions.length > 0;
    if (!isPoll && ++this.#round > MAX_ROUNDS)
      return this.#fail(`The server wants input for more than ${MAX_ROUNDS} rounds.`);
    for (const question of asked) {
      const missing = missingCapability(question, session.context.client?.capabilities);
      if (missing !== undefined) return this.#fail(`The server asks for what the client has not declared: ${missing}.`);
    }
    this.#hold(session);
    if (isPoll) this.#poll(session);
    else if (asked.length === 0) this.#wait(session, Math.min(MIN_PAUSE_MS + 30 * (this.#round - 1), MAX_PAUSE_MS));
    else this.#ask(asked);
  }

  #ask(questions: readonly Question[]): void {
    const asks = questions.map((question): Ask => {
      const key = this.#running.takeKey(question.key);
      this.#open.set(key, question);
      const { kind, method } = question;
      return { key, kind, method, input: this.#urls.inputOf(question) };
    });
    this.#urls.pause();
    this.#running.write({ type: "ask", asks });
  }

  onAnswer({ key, outcome, payload: body }: Answer): void {
    const question = this.#open.get(key);
    if (!question) return;
    if (outcome === "fault") return this.#fail(`The client refused ${question.method}, which the server needs.`);
    this.#open.delete(key);
    this.#answers.set(question.key, body.text);
    this.#urls.onAnswer(question, body);
    if (this.#open.size > 0) return;
    this.#urls.resume();
    this.#send();
  }

  /** The same address under the same key: the client has said yes to it, and the server still waits. */
  #answerAgain(question: Question): boolean {
    const answer = this.#urls.answerOf(question);
    if (answer !== undefined) this.#answers.set(question.key, answer);
    return answer !== undefined;
  }

  /** Addresses the server does not ask about any more have been visited. */
  #tellOpened(questions: readonly Question[]): void {
    for (const id of this.#urls.settle(questions))
      this.#running.write({
        type: "notice",
        method: "notifications/elicitation/complete",
        payload: payload(`{"elicitationId":${jsonText(id)}}`),
      });
  }

  #poll(session: UpstreamSession): void {
    const pauseMs = this.#urls.nextPauseMs();
    if (pauseMs === undefined) this.#running.endWith(this.#urls.fault(), "fault");
    else this.#wait(session, pauseMs);
  }

  #wait(session: UpstreamSession, ms: number): void {
    this.#timer = session.context.timers.after(ms, () => this.#send());
  }

  #send(): void {
    this.#release();
    const { input } = this.#running.call;
    const answers = [...this.#answers].map(([key, text]) => `"${key}":${text}`).join(",");
    // Only what this round brought goes up: a state or answers that the server never asked for would confuse it.
    const params = input.splice(["inputResponses"], answers === "" ? undefined : `{${answers}}`);
    this.#again(params.splice(["requestState"], this.#state));
  }

  /** The call has its end. */
  end(): void {
    this.#tellOpened([]);
  }

  /** Nothing more will be sent. Safe to call twice. */
  stop(): void {
    this.#open.clear();
    this.#release();
  }

  #fail(message: string): void {
    this.#running.fail(new GatewayError("PROVIDER_FAILED", { message }));
  }

  #hold(session: UpstreamSession): void {
    this.#session = session;
    session.context.heldCalls++;
  }

  #release(): void {
    this.#timer?.cancel();
    if (this.#session) this.#session.context.heldCalls--;
    this.#session = undefined;
  }
}
