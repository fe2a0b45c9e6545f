/** A call on its way: what it sends upstream, what it hears, and the questions asked in it. */
import {
  type Answer,
  type Ask,
  type Call,
  type CallEvent,
  type CallReply,
  GatewayError,
  JsonFault,
  type Out,
  type Payload,
  type SharingCaller,
  sharingCallerOf,
} from "../../contract/index.ts";
import { type Message, requestText } from "../../wire/jsonrpc/index.ts";
import { inputFor } from "./call-input.ts";
import { CallQuestions } from "./call-questions.ts";
import { cancelRequest, LastWord } from "./cancelling.ts";
import { ConsentQuestion, type ConsentSurroundings, isConsentRequired } from "./consent-question.ts";
import { type OpenAsk, routeNotification, routeRequest } from "./incoming.ts";
import { type EndEvent, legacyEnd } from "./legacy-end.ts";
import { gatewayError, isTrouble } from "./mcp-errors.ts";
import { ModernCall } from "./modern/modern-call.ts";
import { isModern } from "./modern/modern-side.ts";
import type { Question } from "./modern/questions.ts";
import { withoutOurWords } from "./own-words.ts";
import type { DrivenTask } from "./tasks/driven-task.ts";
import { stripRelatedTask } from "./tasks/driven-tasks.ts";
import { driveLegacyTask } from "./tasks/legacy-task.ts";
import type { RequestSink, RequestStream, UpstreamFailure } from "./transport.ts";
import type { UpstreamSession } from "./upstream-session.ts";

export type RunningCallEvents = {
  /** Nothing more is said about it. */
  settled(running: RunningCall): void;
  /** The server works on it no more, as far as can be known. */
  letGo(running: RunningCall): void;
};

export class RunningCall implements RequestSink {
  id = "";
  /** Its place among the calls of the provider. */
  key = 0;
  readonly call: Call;
  /** Resolves after the one `end`; rejects with GatewayError, but not while the server may work on what was cancelled. */
  readonly settled: Promise<void>;
  /** The client's own progress token as JSON text, where it gave one. */
  token: string | undefined;
  /** What was sent last: the call's input, or that with more of what the server wanted. */
  params: Payload;
  /** It went out with the wish that the server make a task of it. */
  wantsTask = false;
  /** The task that the server made of it, for a caller that does not ask about tasks itself. */
  driven: DrivenTask | undefined;
  readonly #out: Out;
  readonly #on: RunningCallEvents;
  readonly #resolve: () => void;
  readonly #reject: (error: GatewayError) => void;
  #session: UpstreamSession | undefined;
  #stream: RequestStream | undefined;
  #questions: CallQuestions | undefined;
  #modern: ModernCall | undefined;
  #consent: ConsentQuestion | undefined;
  #progress = Number.NEGATIVE_INFINITY;
  /** What is still awaited of a call that was cancelled. */
  #late: LastWord | undefined;
  #wasRenewed = false;
  #isSettled = false;
  #succeeded = false;

  constructor(call: Call, out: Out, on: RunningCallEvents) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.call = call;
    this.params = call.input;
    this.settled = promise;
    this.#out = out;
    this.#on = on;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** Its answer is awaited, and by nobody: the session need not stay open for it. */
  get isStanding(): boolean {
    return this.#late?.isStanding === true;
  }

  get caller(): SharingCaller {
    return sharingCallerOf(this.call);
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Sends the call. Does nothing when it was cancelled while the session was being opened. */
  start(session: UpstreamSession): void {
    if (session.mustListBefore(this.call)) void this.#startListed(session);
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
      const input = inputFor(this, session, id, params);
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

  onMessage(message: Message): void {
    const session = this.#session as UpstreamSession;
    if (message.kind === "response") this.#end(message, session);
    else if (this.#isSettled) return;
    else if (message.kind === "notification") routeNotification(session, message, this);
    else routeRequest(session, message, this);
  }

  onFailure(failure: UpstreamFailure): void {
    const session = this.#session as UpstreamSession;
    session.forget(this.id);
    this.#stream?.abort();
    if (this.#isSettled) return this.#late?.onFailure(failure);
    if ((failure.kind === "expired" || failure.isTurnedAway) && !this.#wasRenewed) void this.#renew(session, failure);
    else if (isConsentRequired(failure.error))
      this.seekConsent(failure.error, session.context.consent, () => this.#resendOn(session));
    else {
      this.fail(gatewayError(failure));
      if (isTrouble(failure)) session.context.onTrouble(session, failure);
    }
  }

  /** Nobody has allowed us to make this call yet. `again`: makes it once somebody has. */
  seekConsent(error: GatewayError, surroundings: ConsentSurroundings | undefined, again: () => void): void {
    if (!surroundings) return this.fail(error);
    this.#consent ??= new ConsentQuestion(this, surroundings);
    this.#consent.put(error, again);
  }

  #resendOn(session: UpstreamSession): void {
    if (session.isOver) void this.#renew(session, { kind: "expired", message: "The session is over." });
    else this.resend(session);
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

  /** From now on this is the stream on which the server speaks about the call. */
  readFrom(stream: RequestStream): void {
    this.#stream = stream;
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
    this.write({ type: "progress", payload: this.driven ? stripRelatedTask(body) : body });
  }

  get #asking(): CallQuestions {
    this.#questions ??= new CallQuestions(this);
    return this.#questions;
  }

  /** Puts a question of the server to whoever made the call. */
  ask(open: OpenAsk, ask: Omit<Ask, "key">): void {
    this.#asking.ask(open, ask);
  }

  /** The server asked what the client has not declared. */
  refuse(message: Message): void {
    if (isModern(this.call)) this.#asking.refuse(message);
  }

  get refused(): readonly Question[] | undefined {
    return this.#questions?.refused;
  }

  /** A key for a question in this call: the one wished for if it is free. */
  takeKey(wish: string | undefined): string {
    return this.#asking.takeKey(wish);
  }

  reply(reply: CallReply): void {
    if (this.#isSettled) return;
    switch (reply.type) {
      case "answer":
        for (const answer of reply.answers) this.#answer(answer);
        return;
      case "notice":
        if (this.#session && !this.#session.modern) this.#asking.notice(reply, this.#session);
        return;
      case "cancel":
        this.#cancel(reply);
        return;
    }
  }

  #answer(answer: Answer): void {
    this.#modern?.onAnswer(answer);
    this.#consent?.onAnswer(answer);
    if (this.#session) this.#questions?.answer(answer, this.#session);
  }

  #cancel(cancel: CallReply & { type: "cancel" }): void {
    const session = this.#session;
    if (this.driven) void this.driven.cancel().then(() => this.letGo());
    else if (session && this.#stream?.takeBack?.()) return this.#unsent(session);
    else if (session?.waitingFor(this.id)) this.#leave(session, cancel);
    // Where a question is open, or it was never sent, nothing runs at the server.
    else return this.fail(new GatewayError("CANCELLED"));
    this.#settle();
  }

  #unsent(session: UpstreamSession): void {
    session.forget(this.id);
    this.fail(new GatewayError("CANCELLED"));
  }

  #leave(session: UpstreamSession, cancel: CallReply & { type: "cancel" }): void {
    const { id } = this;
    const stream = this.#stream;
    const isTask = this.#drivesTask;
    this.#late = new LastWord(session, { id, stream, holdMs: cancel.holdMs, isTask, onOver: () => this.letGo() });
    if (!isTask) cancelRequest(session, id, stream, cancel);
  }

  /** The server is through with what was cancelled, or it is not waited for any longer. Safe to call twice. */
  letGo(): void {
    this.#late?.stop();
    this.#reject(new GatewayError("CANCELLED"));
    this.#on.letGo(this);
  }

  /** A caller of 2026-07-28 does not know the tasks of the 2025 era: they are seen through for it. */
  get #drivesTask(): boolean {
    return this.wantsTask && isModern(this.call);
  }

  /** Ends with a result that needed no server, or with what was made of the server's. */
  endWith(body: Payload, outcome: "result" | "fault" | "input" = "result"): void {
    this.endAs({ type: "end", outcome, payload: body });
  }

  endAs(end: EndEvent): void {
    if (this.#isSettled) return;
    let said = end.payload;
    try {
      said = withoutOurWords(said, end.outcome === "fault" ? "data" : "_meta");
    } catch (error) {
      return this.#failUnread(error);
    }
    this.#out.write(said === end.payload ? end : { ...end, payload: said });
    this.#succeeded = end.outcome !== "fault";
    this.#settle();
    this.#resolve();
    this.#on.letGo(this);
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
    this.#on.letGo(this);
  }

  #end(message: Message, session: UpstreamSession): void {
    session.drop(this.id);
    try {
      if (this.#isSettled) this.#late?.onAnswer(message);
      else if (session.modern) this.#endModern(message, session);
      else this.#endLegacy(message, session);
    } catch (error) {
      this.#failUnread(error);
    }
    session.rest(); // not before it is known whether the call goes on in it
  }

  /**
   * Deeper in the answer than the skim looks stood something that two readers could read differently. A fault of ours is this
   * call's alone: the pipe is read for others, too.
   */
  #failUnread(error: unknown): void {
    if (!(error instanceof JsonFault)) return this.fail(GatewayError.from(error));
    this.fail(gatewayError({ kind: "invalid", message: "The server's answer is not a valid message.", cause: error }));
  }

  #endModern(message: Message, session: UpstreamSession): void {
    this.#modern ??= new ModernCall(this);
    this.#modern.onEnd(message, session);
  }

  #endLegacy(message: Message, session: UpstreamSession): void {
    const task = this.wantsTask && message.outcome === "result" ? message.members?.textOf("task") : undefined;
    if (task !== undefined && this.#drivesTask) driveLegacyTask(this, session, task);
    else this.endAs(legacyEnd(this, message, session, task));
  }

  #settle(): void {
    this.#isSettled = true;
    this.#modern?.stop();
    this.#consent?.stop();
    this.driven?.stop();
    this.#questions?.close(this.#session);
    this.#on.settled(this);
  }
}
