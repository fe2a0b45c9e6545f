/**
 * Turns the events of one run into MCP messages for one request. Lives as long as the request's outlet; a client that
 * comes back for the same run gets a new reader.
 */
import {
  type Ask,
  type Attachment,
  type CallEvent,
  decodeString,
  GatewayError,
  type Payload,
  type Reader,
  type Run,
} from "../../contract/index.ts";
import type { RunningCall, Session } from "../../mechanisms/sessions/index.ts";
import { answerText, notificationText } from "../../wire/jsonrpc/index.ts";
import { KNOWS_ALL_CONTENT, olderContent } from "../../wire/mcp/bridge/index.ts";
import { askFor, askText, refuseAsk } from "./asks.ts";
import { passesLevel } from "./log-level.ts";
import { errorAnswer } from "./mcp-errors.ts";
import type { Outlet, OutletOwner } from "./outlet.ts";

type EndOutcome = (CallEvent & { type: "end" })["outcome"];

export class CallReader implements Reader, RunningCall, OutletOwner {
  readonly session: Session;
  readonly requestId: string;
  readonly method: string;
  /** The client's own token as it spelled it; without one it hears no progress. */
  readonly token: string | undefined;
  readonly outlet: Outlet;
  run: Run | undefined;
  /** Told once, with whether the call succeeded, and with its end where that is its provider's. */
  onEnd: ((isSuccess: boolean, outcome?: EndOutcome) => void) | undefined;
  /** What is answered instead where the client may not hear of the call any more: asked before it is told anything. */
  refusal: (() => string | undefined) | undefined;
  #attachment: Attachment | undefined;
  #cursor = -1;
  #early: { event: CallEvent; cursor: number }[] | undefined;
  #isCancelled = false;
  #isOver = false;
  #isRefused = false;

  constructor(session: Session, requestId: string, method: string, token: string | undefined, outlet: Outlet) {
    this.session = session;
    this.requestId = requestId;
    this.method = method;
    this.token = token;
    this.outlet = outlet;
  }

  get keeps(): boolean {
    return this.outlet.isKept;
  }

  /** The last event that was given to the outlet. */
  get cursor(): number {
    return this.#cursor;
  }

  /** A client that leaves before anything was said has no place to come back to: it is not told to have left. */
  get isGone(): boolean {
    return this.outlet.isGone === true;
  }

  /** Takes the run this reader was started with, and the events that came before it was known. */
  began(run: Run): void {
    this.run = run;
    this.outlet.bind(this);
    const early = this.#early;
    this.#early = undefined;
    for (const { event, cursor } of early ?? []) this.take(event, cursor);
  }

  /** Comes back to a run after `cursor`. */
  rejoin(run: Run, cursor: number): void {
    this.run = run;
    this.#cursor = cursor;
    this.#attachment = run.attach(this, cursor);
    if (this.#isRefused) this.#attachment.detach();
  }

  take(event: CallEvent, cursor: number): boolean {
    if (!this.run) {
      this.#early ??= [];
      this.#early.push({ event, cursor });
      return true;
    }
    this.#cursor = cursor;
    if (this.#isOver) return true;
    const refusal = this.refusal?.();
    if (refusal !== undefined) return this.#refuse(this.run, refusal);
    switch (event.type) {
      case "end":
        this.onEnd?.(event.outcome !== "fault", event.outcome);
        if (event.outcome === "fault") this.#finish(answerText(this.requestId, "fault", event.payload));
        else this.#finish(answerText(this.requestId, "result", this.#resultOf(event.payload)));
        return true;
      case "error":
        this.onEnd?.(false);
        if (event.error.code === "CANCELLED" && this.#isCancelled) this.#finish(undefined);
        else this.#finish(errorAnswer(this.requestId, this.method, event.error, this.run.id), event.error);
        return true;
      case "progress":
        if (this.token === undefined || !this.outlet.canStream) return true;
        return this.#tell("notifications/progress", event.payload.splice(["progressToken"], this.token));
      case "log":
        if (!this.outlet.canStream || !passesLevel(this.session, event.payload)) return true;
        return this.#tell("notifications/message", event.payload);
      case "ask":
        return this.#ask(this.run, event.asks);
      case "notice":
        return this.#notice(this.run, event);
      case "status":
        // Not when the answer is here already, and this is only said again to a client that came back.
        if (event.state === "polling" && !this.run.isEnded && this.outlet.release(event.retryMs)) this.left();
        return true;
      case "chunk":
      case "artifact":
        return true;
    }
  }

  /** The call goes on, and whoever may make it may come back for it: what is said here stands in no journal. */
  #refuse(run: Run, text: string): true {
    this.#isOver = true;
    this.#isRefused = true;
    this.#leaveSessionAfter(run);
    this.#attachment?.detach();
    this.outlet.answer(text);
    if (run.call.task) this.#giveUp(run);
    return true;
  }

  /** Words about a task: nobody comes back for them, and the task goes on without. */
  #giveUp(run: Run): void {
    this.#leaveSession();
    run.cancel("its task is not told of any more");
  }

  /** The result as this client's revision has it. */
  #resultOf(result: Payload): Payload {
    const { protocol } = this.session;
    return protocol < KNOWS_ALL_CONTENT ? olderContent(this.method, result, protocol) : result;
  }

  #tell(method: string, payload: Parameters<typeof notificationText>[1]): boolean {
    return this.outlet.send(notificationText(method, payload), this.#cursor);
  }

  #notice(run: Run, event: CallEvent & { type: "notice" }): boolean {
    let { payload } = event;
    if (event.key !== undefined) {
      const id = this.session.askIdOf(run, event.key);
      if (id === undefined) return true;
      if (event.method === "notifications/cancelled") {
        payload = payload.splice(["requestId"], id);
        this.session.asks?.delete(id);
      }
    }
    return this.outlet.canStream ? this.#tell(event.method, payload) : true;
  }

  #ask(run: Run, asks: readonly Ask[]): boolean {
    // Nobody waits for an answer any more: a client that came back for the end is not asked again.
    if (run.isEnded) return true;
    let hasRoom = true;
    const texts: string[] = [];
    for (const ask of asks) {
      const text = this.#question(run, ask);
      if (text !== undefined) texts.push(text);
    }
    // The event's id goes with its last question: a client that lost the stream before it gets all of them again.
    for (const [index, text] of texts.entries()) {
      hasRoom = this.outlet.send(text, index === texts.length - 1 ? this.#cursor : -1);
    }
    return hasRoom;
  }

  /** The message for this call's own stream, or undefined when the question was dealt with in another way. */
  #question(run: Run, ask: Ask): string | undefined {
    const { session } = this;
    const asked = askFor(session, ask);
    const known = session.askIdOf(run, ask.key);
    if (asked && known !== undefined) return session.asks?.get(known)?.isAnswered ? undefined : askText(known, asked);
    const canReach = this.outlet.canStream || session.outbox?.isOpen === true;
    if (session.isEphemeral || !canReach || !asked) {
      refuseAsk(run, ask);
      return undefined;
    }
    const id = session.addAsk({ key: ask.key, run, isAnswered: false });
    const text = askText(id, asked);
    if (this.outlet.canStream) return text;
    session.outbox?.push({ type: "ask", text, key: `ask ${id}` });
    return undefined;
  }

  #finish(text: string | undefined, error?: GatewayError): void {
    this.#leaveSession();
    this.#isOver = true;
    if (text === undefined) this.outlet.drop();
    else this.outlet.answer(text, this.#cursor, undefined, error);
  }

  #leaveSession(): void {
    this.session.dropRunning(this.requestId, this);
    if (this.run && this.session.asks !== undefined) this.session.dropAsksOf(this.run);
  }

  /**
   * The session knows the call while it runs, though nobody reads it here. How it ends is kept with its run, within bounds, and
   * not by the session.
   */
  #leaveSessionAfter(run: Run): void {
    run.onFinished = () => this.#leaveSession();
  }

  /** The client's own cancel: nothing is answered. */
  cancel(reason: string | undefined, words?: Payload): void {
    this.#isCancelled = true;
    this.run?.cancel(reason, words);
    if (!this.#isOver) this.#finish(undefined);
  }

  abandon(reason: string): void {
    this.cancel(reason);
  }

  /**
   * Nobody here may speak for this session any more. A stream just ends: its client comes back, and is told elsewhere. The run
   * ends first, and its end is on record before anybody hears of it.
   */
  lose(reason: string): void {
    const hasAnswer = !this.#isOver;
    this.#isCancelled = true;
    this.#isOver = true;
    this.run?.lose(reason);
    if (hasAnswer) this.#finish(this.outlet.isKept ? undefined : this.#unknown());
  }

  #unknown(): string {
    const error = new GatewayError("OUTCOME_UNKNOWN");
    return errorAnswer(this.requestId, this.method, error, this.run?.id ?? "");
  }

  /** The outlet has room again. */
  resume(): void {
    if (this.#isOver || !this.run) return;
    if (this.#attachment) this.#attachment.resume();
    else this.#attachment = this.run.attach(this, this.#cursor);
  }

  /** The client's connection is gone; the call goes on, and the client may come back for it. */
  left(): void {
    if (this.#isOver || !this.run) return;
    this.#isOver = true;
    this.#leaveSessionAfter(this.run);
    this.#attachment ??= this.run.attach(this, this.#cursor);
    this.#attachment.detach();
  }

  /** Another reader took the run over: the client came back before we saw it leave. */
  replaced(): void {
    this.#isOver = true;
    this.session.dropRunning(this.requestId, this);
    this.outlet.drop();
  }
}

/** The reason text of a cancel, as an ordinary string. */
export function reasonOf(literal: string | undefined): string | undefined {
  return decodeString(literal)?.slice(0, 1000);
}
