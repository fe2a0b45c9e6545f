/** The questions of the server in one call: those that wait for an answer, and those that could not be put. */
import { type Answer, type Ask, type CallReply, jsonText, type Payload } from "../../contract/index.ts";
import { answerText, type Message, notificationText } from "../../wire/jsonrpc/index.ts";
import { RELATED_TASK } from "../../wire/mcp/index.ts";
import { AskKeys, wishedKey } from "./ask-keys.ts";
import type { OpenAsk } from "./incoming.ts";
import { type Question, questionOf } from "./modern/questions.ts";
import type { RunningCall } from "./running-call.ts";
import type { UpstreamSession } from "./upstream-session.ts";

const MAX_REFUSED = 16;

export class CallQuestions {
  /** What the server asked and the client has not declared. */
  readonly refused: Question[] = [];
  readonly #running: RunningCall;
  readonly #keys = new AskKeys();
  readonly #open = new Map<string, OpenAsk>();

  constructor(running: RunningCall) {
    this.#running = running;
  }

  ask(open: OpenAsk, ask: Omit<Ask, "key">): void {
    const key = this.takeKey(wishedKey(ask.input));
    open.key = key;
    open.call = this.#running;
    this.#open.set(key, open);
    this.#running.write({ type: "ask", asks: [{ ...ask, key }] });
  }

  refuse({ method, body }: Message): void {
    if (this.refused.length < MAX_REFUSED) this.refused.push(questionOf("", method, body));
  }

  takeKey(wish: string | undefined): string {
    return this.#keys.take(wish);
  }

  answer({ key, outcome, payload: body }: Answer, session: UpstreamSession): void {
    const open = this.#open.get(key);
    if (!open) return;
    this.#open.delete(key);
    if (!session.asks.delete(open.id)) return; // the server has taken it back
    void session.answer(answerText(open.id, outcome, outcome === "fault" ? body : this.#inTask(body, session)));
  }

  /** What is said in a task names the task. */
  #inTask(body: Payload, session: UpstreamSession): Payload {
    const { driven } = this.#running;
    if (!driven) return session.context.tasks.towardsServer(body, this.#running.call.principal);
    return body.splice(["_meta", RELATED_TASK], jsonText({ taskId: driven.id }));
  }

  /** A notification of the client; `key`: about this question. */
  notice({ method, payload: body, key }: CallReply & { type: "notice" }, session: UpstreamSession): void {
    const token = key === undefined ? undefined : this.#open.get(key)?.token;
    if (method === "notifications/progress" && token === undefined) return;
    const params = token === undefined ? body : body.splice(["progressToken"], token);
    const { principal, session: client } = this.#running.call;
    session.context.notices.take({ id: client?.id ?? principal.id, principal }, async () =>
      session.send(notificationText(method, session.context.tasks.towardsServer(params, principal))),
    );
  }

  /** The call is over: nobody will answer any more. */
  close(session: UpstreamSession | undefined): void {
    for (const open of this.#open.values()) session?.asks.delete(open.id);
  }
}
