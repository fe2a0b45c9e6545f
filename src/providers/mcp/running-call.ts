/** A call on its way: what it sends upstream, what it hears, and the questions asked in it. */
import {
  type Answer,
  type Ask,
  type Call,
  type CallEvent,
  type CallReply,
  GatewayError,
  JsonFault,
  jsonText,
  type Out,
  type Payload,
  payload,
} from "../../contract/index.ts";
import { answerText, type Message, notificationText, requestText } from "../../wire/jsonrpc/index.ts";
import { AskKeys, wishedKey } from "./ask-keys.ts";
import { type OpenAsk, routeNotification, routeRequest } from "./incoming.ts";
import { gatewayError } from "./mcp-errors.ts";
import { ModernCall } from "./modern/modern-call.ts";
import { isModern } from "./modern/modern-side.ts";
import { capabilityFault, type Question, questionOf } from "./modern/questions.ts";
import { taskEnd } from "./task-end.ts";
import type { RequestSink, RequestStream, UpstreamFailure } from "./transport.ts";
import type { UpstreamSession } from "./upstream-session.ts";
import { within } from "./within.ts";

/** How long the server may take to hear of a cancel before its stream is closed. */
const CANCEL_MS = 2000;
const MAX_REFUSED = 16;
const TOKEN_PATH = ["_meta", "progressToken"] as const;

export class RunningCall implements RequestSink {
  id = "";
  /** Its place among the calls of the provider. */
  key = 0;
  readonly call: Call;
  /** Resolves after the one `end`; rejects with GatewayError. */
  readonly settled: Promise<void>;
  /** The client's own progress token as JSON text, where it gave one. */
  token: string | undefined;
  /** What was sent last: the call's input, or that with more of what the server wanted. */
  params: Payload;
  readonly #out: Out;
  readonly #onSettled: (running: RunningCall) => void;
  readonly #resolve: () => void;
  readonly #reject: (error: GatewayError) => void;
  #session: UpstreamSession | undefined;
  #stream: RequestStream | undefined;
  #asks: Map<string, OpenAsk> | undefined;
  #keys: AskKeys | undefined;
  #refused: Question[] | undefined;
  #modern: ModernCall | undefined;
  #progress = Number.NEGATIVE_INFINITY;
  #wantsTask = false;
  #wasRenewed = false;
  #isSettled = false;
  #succeeded = false;

  constructor(call: Call, out: Out, onSettled: (running: RunningCall) => void) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.call = call;
    this.params = call.input;
    this.settled = promise;
    this.#out = out;
    this.#onSettled = onSettled;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Sends the call. Does nothing when it was cancelled while the session was being opened. */
  start(session: UpstreamSession): void {
    if (session.modern?.mustListBefore(this.call)) void this.#startListed(session);
    else this.send(session, this.call.input);
  }

  async #startListed(session: UpstreamSession): Promise<void> {
    await session.context.listed();
    try {
      this.send(session.isOver ? await session.context.renew(session) : session, this.call.input);
    } catch (error) {
      this.fail(GatewayError.from(error));
    }
  }

  /** Sends the call, or sends it once more, with these params. */
  send(session: UpstreamSession, params: Payload): void {
    if (this.#isSettled) return;
    this.params = params;
    const id = session.begin(this);
    const { method } = this.call;
    this.id = id;
    try {
      const input = this.#inputFor(session, id, params);
      const dressed = session.modern?.dress(method, input, this.call);
      this.#session = session;
      this.#stream = session.transport.request(requestText(id, method, dressed?.params ?? input), this, dressed);
    } catch (error) {
      session.forget(id);
      this.fail(
        error instanceof JsonFault
          ? new GatewayError("BAD_CALL", { message: error.message })
          : GatewayError.from(error),
      );
    }
  }

  #inputFor(session: UpstreamSession, id: string, params: Payload): Payload {
    const { call } = this;
    let input = params;
    // Keys of params are never escaped, so a text without these has no such member.
    if (input.text.includes('"_meta"')) {
      this.token = input.at(TOKEN_PATH);
      if (this.token !== undefined) input = input.splice(TOKEN_PATH, id);
      input = session.context.tasks.towardsServer(input);
    }
    this.#wantsTask = input.text.includes('"task"') && input.at(["task"]) !== undefined;
    if (call.method.startsWith("tasks/")) {
      const entry = session.context.tasks.find(call.resumes ?? "");
      if (!entry) throw new GatewayError("NO_SUCH_TARGET", { message: "The server does not know this task any more." });
      input = input.splice(["taskId"], jsonText(entry.upstreamId));
    }
    return input;
  }

  onMessage(message: Message): void {
    const session = this.#session as UpstreamSession;
    if (message.kind === "notification") routeNotification(session, message, this);
    else if (message.kind === "request") routeRequest(session, message, this);
    else this.#end(message, session);
  }

  onFailure(failure: UpstreamFailure): void {
    const session = this.#session as UpstreamSession;
    session.forget(this.id);
    this.#stream?.abort();
    if (this.#isSettled) return;
    if ((failure.kind === "expired" || failure.isTurnedAway) && !this.#wasRenewed) void this.#renew(session, failure);
    else {
      this.fail(gatewayError(failure));
      if (failure.kind !== "lost" && failure.kind !== "invalid") session.context.onTrouble(session, failure);
    }
  }

  /** The server did not look at the call. Sends it once more if that was because it has forgotten the session. */
  async #renew(session: UpstreamSession, failure: UpstreamFailure): Promise<void> {
    this.#wasRenewed = true;
    try {
      if (failure.kind !== "expired" && (await session.isKnown())) this.fail(gatewayError(failure));
      else this.resend(await session.context.renew(session));
    } catch (error) {
      this.fail(GatewayError.from(error));
    }
  }

  /** Sends what was sent last on another session. */
  resend(session: UpstreamSession): void {
    if (this.params === this.call.input) this.start(session);
    else if (session.modern) this.send(session, this.params);
    else
      this.fail(
        new GatewayError("PROVIDER_FAILED", { message: "The server forgot the call while it asked for input." }),
      );
  }

  onHangUp(retryMs: number): void {
    this.write({ type: "status", state: "polling", retryMs });
  }

  /** Writes an event; where the stream is the call's own it is read no faster than its reader takes it. */
  write(event: CallEvent): void {
    if (this.#isSettled || this.#out.write(event) || !this.#session?.transport.hasStreams) return;
    this.#stream?.pause();
    void this.#out.ready().then(() => this.#stream?.resume());
  }

  /** Progress grows over all rounds of a call, though the server may count anew in each. */
  progress({ members, body }: Message): void {
    const value = Number(members?.textOf("progress"));
    if (this.#modern && value <= this.#progress) return;
    this.#progress = value;
    this.write({ type: "progress", payload: body });
  }

  /** Puts a question of the server to whoever made the call. */
  ask(open: OpenAsk, ask: Omit<Ask, "key">): void {
    const key = this.takeKey(wishedKey(ask.input));
    open.key = key;
    open.call = this;
    this.#asks ??= new Map();
    this.#asks.set(key, open);
    this.write({ type: "ask", asks: [{ ...ask, key }] });
  }

  /** The server asked what the client has not declared. */
  refused({ method, body }: Message): void {
    if (!isModern(this.call)) return;
    this.#refused ??= [];
    if (this.#refused.length < MAX_REFUSED) this.#refused.push(questionOf("", method, body));
  }

  /** A key for a question in this call: the one wished for if it is free. */
  takeKey(wish: string | undefined): string {
    this.#keys ??= new AskKeys();
    return this.#keys.take(wish);
  }

  reply(reply: CallReply): void {
    if (this.#isSettled) return;
    switch (reply.type) {
      case "answer":
        for (const answer of reply.answers) this.#answer(answer);
        return;
      case "notice":
        this.#notice(reply.method, reply.payload, reply.key);
        return;
      case "cancel":
        this.#cancel(reply.reason, reply.payload);
        return;
    }
  }

  #answer(answer: Answer): void {
    if (this.#modern) this.#modern.onAnswer(answer);
    const { key, outcome, payload: body } = answer;
    const open = this.#asks?.get(key);
    const session = this.#session;
    if (!open || !session) return;
    this.#asks?.delete(key);
    if (!session.asks.delete(open.id)) return; // the server has taken it back
    void session.send(answerText(open.id, outcome, session.context.tasks.towardsServer(body)));
  }

  #notice(method: string, body: Payload, key: string | undefined): void {
    const session = this.#session;
    if (!session || session.modern) return;
    const token = key === undefined ? undefined : this.#asks?.get(key)?.token;
    if (method === "notifications/progress" && token === undefined) return;
    const params = token === undefined ? body : body.splice(["progressToken"], token);
    void session.send(notificationText(method, session.context.tasks.towardsServer(params)));
  }

  #cancel(reason: string | undefined, words: Payload | undefined): void {
    const session = this.#session;
    const stream = this.#stream;
    if (session?.modern) this.#cancelModern(session, reason);
    else if (session) {
      session.forget(this.id);
      const why = reason === undefined ? "" : `,"reason":${jsonText(reason)}`;
      const params = words?.splice(["requestId"], this.id) ?? payload(`{"requestId":${this.id}${why}}`);
      const text = notificationText("notifications/cancelled", params);
      // A server that has its stream closed first may take that for a lost client and go on.
      void within(session.context.timers, CANCEL_MS, session.send(text)).then(() => stream?.abort());
    }
    this.fail(new GatewayError("CANCELLED"));
  }

  /** In 2026-07-28 closing the stream is the cancel; where there are no streams, it is said. */
  #cancelModern(session: UpstreamSession, reason: string | undefined): void {
    if (!session.waitingFor(this.id)) return; // a question is open: nothing runs at the server
    session.forget(this.id);
    const why = reason === undefined ? "" : `,"reason":${jsonText(reason)}`;
    if (session.transport.hasStreams) this.#stream?.abort();
    else void session.modern?.notify("notifications/cancelled", payload(`{"requestId":${this.id}${why}}`));
  }

  /** Ends with a result that needed no server, or with what was made of the server's. */
  endWith(body: Payload, outcome: "result" | "fault" | "input" = "result"): void {
    if (this.#isSettled) return;
    this.#out.write({ type: "end", outcome, payload: body });
    this.#succeeded = outcome !== "fault";
    this.#settle();
    this.#resolve();
  }

  /** Whether it ended with something other than a fault or an error. */
  gotResult(): Promise<boolean> {
    return this.settled.then(
      () => this.#succeeded,
      () => false,
    );
  }

  fail(error: GatewayError): void {
    if (this.#isSettled) return;
    this.#settle();
    this.#reject(error);
  }

  #end(message: Message, session: UpstreamSession): void {
    session.forget(this.id);
    if (this.#isSettled) return;
    try {
      if (session.modern) {
        this.#modern ??= new ModernCall(this);
        this.#modern.onEnd(message, session);
        return;
      }
      const end = this.#endEvent(message, session);
      this.#succeeded = end.type === "end" && end.outcome !== "fault";
      this.#out.write(end);
      this.#settle();
      this.#resolve();
    } catch (error) {
      if (!(error instanceof JsonFault)) throw error;
      // Deeper in the answer than the skim looks stood something that two readers could read differently.
      this.fail(
        gatewayError({ kind: "invalid", message: "The server's answer is not a valid message.", cause: error }),
      );
    }
  }

  #endEvent(message: Message, session: UpstreamSession): CallEvent {
    const { outcome } = message;
    if (this.#refused && (outcome === "fault" || message.members?.textOf("isError") === "true"))
      return { type: "end", outcome: "fault", payload: capabilityFault(this.#refused) };
    if (outcome === "fault") return { type: "end", outcome, payload: message.body };
    const task = this.#wantsTask ? message.members?.textOf("task") : undefined;
    if (task !== undefined) return taskEnd(this, task, message.body, session);
    const body = session.context.tasks.towardsClient(message.body);
    const named =
      this.call.method === "tasks/get" || this.call.method === "tasks/cancel" ? this.call.resumes : undefined;
    return { type: "end", outcome, payload: named === undefined ? body : body.splice(["taskId"], jsonText(named)) };
  }

  #settle(): void {
    this.#isSettled = true;
    this.#modern?.stop();
    if (this.#asks) for (const open of this.#asks.values()) this.#session?.asks.delete(open.id);
    this.#onSettled(this);
  }
}
