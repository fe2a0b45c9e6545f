/**
 * One call of a 2026-07-28 client, over all its rounds. The run stays open while the client thinks about a question: its
 * exchange is over then, and comes back as another one.
 *
 * Invariants:
 *  1. `#here` is the exchange that waits for an answer; while there is none, the call is suspended, ended or left.
 *  2. `#pending` are the questions that no client has answered; they are asked together when it has become quiet.
 *  3. `#final` is set only while the call is suspended: it is the answer of the next round.
 */
import {
  type Answer,
  type Ask,
  type Attachment,
  type CallEvent,
  digestJsonOrText,
  GatewayError,
  jsonText,
  type Payload,
  payload,
  type Reader,
  type Run,
} from "../../../contract/index.ts";
import type { RunningCall, Session } from "../../../mechanisms/sessions/index.ts";
import { notificationText } from "../../../wire/jsonrpc/index.ts";
import type { FrontContext } from "../front-context.ts";
import { reachesLevel } from "../log-level.ts";
import { answerOf, type Final, laterFinal, plainAnswer } from "./call-answer.ts";
import { deferredResult } from "./deferral.ts";
import type { OutletOwner } from "./exchange.ts";
import { answerLater, expired, hasForm, inputRequestsText, missingFor, negative, undeclared } from "./questions.ts";
import { QuietWindow } from "./quiet-window.ts";
import type { About, Here, RoundKeeper } from "./round.ts";

const MOST_AT_ONCE = 16;

/** Notifications of 2025 that this era has no place for. */
const LEGACY_NOTICES: ReadonlySet<string> = new Set([
  "notifications/elicitation/complete",
  "notifications/tasks/status",
]);

export class OpenCall implements Reader, RunningCall, OutletOwner {
  readonly keeps = false;
  readonly session: Session;
  readonly about: About;
  run: Run | undefined;
  readonly #front: FrontContext;
  readonly #keeper: RoundKeeper;
  readonly #key: string;
  #here: Here | undefined;
  #attachment: Attachment | undefined;
  #cursor = -1;
  // Few calls need any of these, so they are made when they are needed.
  #early: { event: CallEvent; cursor: number }[] | undefined;
  #pending: Map<string, Ask> | undefined;
  #refused: Record<string, unknown>[] | undefined;
  #window: QuietWindow | undefined;
  #lastProgress: Payload | undefined;
  #roots: Payload | undefined;
  #final: Final | undefined;
  #digest: string | undefined;
  #isBlocked = false;
  #isOver = false;

  constructor(front: FrontContext, keeper: RoundKeeper, session: Session, about: About, key: string) {
    this.#front = front;
    this.#keeper = keeper;
    this.session = session;
    this.about = about;
    this.#key = key;
  }

  /** What makes another request the same one. */
  get digest(): string {
    this.#digest ??= digestJsonOrText(this.about.identity);
    return this.#digest;
  }

  get pending(): Iterable<Ask> {
    return this.#pending?.values() ?? [];
  }

  get #isAsking(): boolean {
    return this.#pending !== undefined && this.#pending.size > 0;
  }

  /** Takes its run, and the events that came before it was known. */
  began(run: Run, here: Here): void {
    this.#here = here;
    this.run = run;
    here.outlet.bind(this);
    this.#wait();
    for (const { event, cursor } of this.#early ?? []) this.take(event, cursor);
    this.#early = undefined;
  }

  take(event: CallEvent, cursor: number): boolean {
    this.#cursor = Math.max(this.#cursor, cursor);
    if (!this.run) {
      this.#early ??= [];
      this.#early.push({ event, cursor });
      return true;
    }
    const task = this.about.deferral?.task;
    if (task) return task.take(event);
    if (this.#isOver) return true;
    switch (event.type) {
      case "end":
      case "error":
        this.#end(event);
        return true;
      case "progress":
        return this.#progress(event.payload);
      case "log":
        return this.#wants(event.payload) ? this.#tell("notifications/message", event.payload) : true;
      case "ask":
        for (const ask of event.asks) this.#ask(this.run, ask);
        return true;
      case "notice":
        return this.#notice(event);
      case "status":
        if (this.about.deferral?.hears(event)) this.#sendAway();
        return true;
      case "chunk":
      case "artifact":
        return true;
    }
  }

  #tell(method: string, body: Payload): boolean {
    const hasRoom = this.#here?.outlet.send(notificationText(method, body)) ?? true;
    this.#isBlocked = !hasRoom;
    return hasRoom;
  }

  /** Without a client only the last word is kept: it is the first of the next round. */
  #progress(body: Payload): boolean {
    if (!this.#here) this.#lastProgress = body;
    const token = this.#here?.token;
    return token === undefined ? true : this.#tell("notifications/progress", body.splice(["progressToken"], token));
  }

  #wants(line: Payload): boolean {
    const least = this.#here?.logLevel;
    return least !== undefined && reachesLevel(least, line);
  }

  /** The client waits from now on, but perhaps not to the end. */
  #wait(): void {
    if (this.#here) this.about.deferral?.wait(() => !this.#isAsking && this.#sendAway());
  }

  /** The call goes on as a task, where the client takes one and there is room. */
  #sendAway(): void {
    const here = this.#here;
    const task = here && this.run && this.about.deferral?.keep(this.run, { cursor: this.#cursor, asks: this.pending });
    if (!task) return;
    this.#leave();
    const tell = () => here.outlet.answer(plainAnswer(this.#front, here.requestId, deferredResult(task)).text);
    if (task.stored === undefined) return tell();
    task.stored.then(tell, (cause) => this.#refuseTask(here, GatewayError.from(cause)));
  }

  #refuseTask({ outlet, requestId }: Here, error: GatewayError): void {
    const final = { type: "error", error } as const;
    outlet.answer(answerOf(this.#front, this.#keeper, { call: this, requestId, final }, []).text);
  }

  #notice(event: CallEvent & { type: "notice" }): boolean {
    if (event.method === "notifications/elicitation/complete") this.#keeper.visited(this.session, event.payload);
    if (event.key === undefined) {
      return LEGACY_NOTICES.has(event.method) ? true : this.#tell(event.method, event.payload);
    }
    if (event.method === "notifications/cancelled") this.#pending?.delete(event.key);
    return true;
  }

  #ask(run: Run, ask: Ask): void {
    const missing = missingFor(ask, this.session.capabilities);
    if (missing) {
      this.#refused ??= [];
      this.#refused.push(missing);
      return answerLater(run, undeclared(ask));
    }
    if (!hasForm(ask) || !this.about.canAsk || !this.#keeper.mayWait(this)) {
      return answerLater(run, negative(ask, this.#keeper.rootsOf(this.session)));
    }
    // A server that hears of new roots asks for them again, and has them from this very call.
    if (ask.kind === "roots" && this.#roots) return answerLater(run, negative(ask, this.#roots));
    this.#pending ??= new Map();
    this.#pending.set(ask.key, ask);
    this.#waitForQuiet();
  }

  #waitForQuiet(): void {
    if (!this.#here) return;
    this.#window ??= new QuietWindow(this.#front, () => this.#askClient());
    if ((this.#pending?.size ?? 0) >= MOST_AT_ONCE) this.#askClient();
    else this.#window.stir();
  }

  /** Ends this round with what is asked now. */
  #askClient(): void {
    this.#window?.close();
    const here = this.#here;
    if (!here || !this.#isAsking) return;
    const state = this.#keeper.suspend(this);
    this.#here = undefined;
    const result = `{"resultType":"input_required","inputRequests":${inputRequestsText(this.pending)},"requestState":${jsonText(state)}}`;
    this.about.deferral?.stop();
    here.outlet.answer(plainAnswer(this.#front, here.requestId, payload(result)).text);
    // Nobody is behind any more.
    if (this.#isBlocked) this.resume();
  }

  /** The client came back. `answers`: those that fit what was asked count. */
  comeBack(here: Here, answers: ReadonlyMap<string, Payload>): void {
    this.#here = here;
    here.outlet.bind(this);
    if (this.#isOver) return;
    if (this.#final) return this.#finish(this.#final);
    if (this.#lastProgress && here.token !== undefined) this.#progress(this.#lastProgress);
    this.#lastProgress = undefined;
    const given: Answer[] = [];
    for (const [key, body] of answers) {
      if (this.#pending?.get(key)?.kind === "roots") this.#roots = body;
      if (this.#pending?.delete(key)) given.push({ key, outcome: "result", payload: body });
    }
    if (given.length > 0) this.run?.reply({ type: "answer", answers: given });
    if (this.about.deferral?.isDue) this.#sendAway();
    this.#wait();
    if (!this.#isAsking) return;
    if (given.length > 0) this.#waitForQuiet();
    else this.#askClient();
  }

  #end(event: CallEvent): void {
    this.#window?.close();
    if (this.#here) return this.#finish(event);
    this.session.dropRunning(this.#key, this);
    this.#final = laterFinal(event, this.run?.id ?? "");
  }

  #finish(final: Final): void {
    const here = this.#here;
    this.#leave();
    if (!here) return;
    const { requestId } = here;
    const { text, status, error } = answerOf(
      this.#front,
      this.#keeper,
      { call: this, requestId, final },
      this.#refused ?? [],
    );
    here.outlet.answer(text, status, error);
  }

  /** Nothing follows. */
  #leave(): void {
    this.#isOver = true;
    this.#here = undefined;
    this.#window?.close();
    this.about.deferral?.stop();
    if (this.#pending) this.#keeper.forget(this);
    this.session.dropRunning(this.#key, this);
  }

  /** The client's own cancel: nothing is answered. */
  cancel(reason: string | undefined, words?: Payload): void {
    if (this.#isOver) return;
    const here = this.#here;
    this.#leave();
    this.run?.cancel(reason, words);
    here?.outlet.drop();
  }

  /** In this era a client that goes away has cancelled. */
  left(): void {
    this.cancel("the client went away");
  }

  /** Nobody came back in time. */
  expire(): void {
    if (this.#isOver) return;
    const answers = [...this.pending].map(expired);
    this.#leave();
    if (answers.length > 0) this.run?.reply({ type: "answer", answers });
    this.run?.cancel("the client did not answer in time");
  }

  abandon(reason: string): void {
    this.run?.cancel(reason);
  }

  /** There is room again. */
  resume(): void {
    this.#isBlocked = false;
    if (this.#isOver || !this.run) return;
    if (this.#attachment) this.#attachment.resume();
    else this.#attachment = this.run.attach(this, this.#cursor);
  }
}
