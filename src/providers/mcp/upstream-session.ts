/**
 * One MCP session with the server: its handshake, its request ids, and who waits for which answer. What the server says
 * by itself is sorted in incoming.ts; when sessions are opened and closed is decided in session-slot.ts.
 */
import {
  type Call,
  type Clock,
  FlightTable,
  type Host,
  JsonFault,
  type ListedKind,
  type Log,
  type Meter,
  type Payload,
  payload,
  type SessionRef,
  type Timers,
} from "../../contract/index.ts";
import { errorText, type Message, MessageFault, requestText } from "../../wire/jsonrpc/index.ts";
import type { ClientNotices } from "./client-notices.ts";
import type { ConsentSurroundings } from "./consent-question.ts";
import type { Declarations } from "./declarations.ts";
import type { FormerSession } from "./former-session.ts";
import type { Agreement } from "./handshake.ts";
import type { HomeFacts } from "./home-facts.ts";
import { noRoom } from "./http-link.ts";
import { type OpenAsk, routeNotification, routeRequest } from "./incoming.ts";
import type { LargeAnswer } from "./large-answer.ts";
import type { Leases } from "./leases.ts";
import type { PageAnswer } from "./list-page.ts";
import type { LogLevels } from "./log-levels.ts";
import { failureOf } from "./mcp-errors.ts";
import type { Eras } from "./modern/eras.ts";
import { isModern, type ModernSide } from "./modern/modern-side.ts";
import { isStillModern, settleEra } from "./opening.ts";
import { PendingAnswer } from "./pending-answer.ts";
import { RefusedBatch, UnheldMessage } from "./read-messages.ts";
import type { RepeatedWarning } from "./repeated-warning.ts";
import type { Requesters } from "./requesters.ts";
import { RunningCall } from "./running-call.ts";
import type { TaskTable } from "./task-table.ts";
import type { DrivenTask } from "./tasks/driven-task.ts";
import { DrivenTasks } from "./tasks/driven-tasks.ts";
import type { TaskTools } from "./tasks/task-tools.ts";
import {
  type RequestSink,
  type TransportHandlers,
  type UpstreamFailure,
  UpstreamFault,
  type UpstreamTransport,
} from "./transport.ts";

/** What a session needs of its surroundings. It outlives the session: the next one of the same slot gets it, too. */
export interface SessionContext {
  readonly provider: string;
  readonly gatewayVersion: string;
  /** At the other end is the process of ours in which the server runs. */
  readonly isHome: boolean;
  /** How a gateway is told which of our callers a call is of; undefined: it is not. */
  readonly requester: ((call: Call) => string) | undefined;
  /** Whose session it is; undefined for the one that is shared. */
  readonly client: SessionRef | undefined;
  readonly host: Host;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  /** What a server could have us write without end. */
  readonly warnings: Readonly<Record<"undelivered" | "tooLarge" | "batch" | "malformed", RepeatedWarning>>;
  readonly meter: Meter;
  readonly tasks: TaskTable;
  readonly taskTools: TaskTools;
  readonly levels: LogLevels;
  readonly eras: Eras;
  readonly declarations: Declarations;
  readonly leases: Leases;
  /** What clients say outside requests goes by here. */
  readonly notices: ClientNotices;
  /** Whom to ask where credentials are missing; undefined where the config has them all. */
  readonly consent: ConsentSurroundings | undefined;
  /** Calls that wait for input and will be sent again. */
  heldCalls: number;
  /** Whose calls it has carried. */
  readonly requesters: Requesters;
  onListChanged(kinds: readonly ListedKind[]): void;
  /** Nothing can come from this session any more. */
  onLost(session: UpstreamSession, failure: UpstreamFailure): void;
  /** A request of this session could not be delivered. */
  onTrouble(session: UpstreamSession, failure: UpstreamFailure): void;
  /** The server may be away: whoever tells its state finds out. */
  look(): Promise<void>;
  /** The server has forgotten this session: gives the one that takes its place. */
  renew(session: UpstreamSession): Promise<UpstreamSession>;
  /** Resolves when the server's lists have been read or have failed once. */
  listed(): Promise<void>;
  /** Reads the lists of these kinds again. */
  relist(kinds: readonly ListedKind[]): Promise<void>;
  /** What another process would need to go on with this session has changed. */
  onHandle(session: UpstreamSession): void;
  /** A request ended: a session that was only waiting for it may close. */
  onIdle(session: UpstreamSession): void;
}

type TakeLarge = (answer: LargeAnswer) => void;

const REQUEST_MS = 30_000;
const PROBE_MS = 5000;

// Invariants:
//  1. Every id in `pending` was given out once; its entry leaves when the answer comes, fails, or is no more wanted.
//  2. Every ask in `asks` is a question of the server that nobody has answered yet.
//  3. After `isOver` both are empty and nothing is sent.
export class UpstreamSession implements TransportHandlers {
  readonly context: SessionContext;
  readonly transport: UpstreamTransport;
  readonly pending: FlightTable<RequestSink>;
  readonly asks = new Map<string, OpenAsk>();
  /** Tasks of the server that the gateway sees through for their callers. */
  readonly driven = new DrivenTasks();
  agreement: Agreement | undefined;
  /** What the process says of the server in which it runs, where that is another one. */
  home: HomeFacts | undefined;
  /** Set while the server is taken for one of 2026-07-28. */
  modern: ModernSide | undefined;
  /** It has been asked for its era and has not answered: if the process ends now, that may be why. */
  diesAsked = false;
  isOver = false;
  /** The transport has ended by itself: nobody at the other end works on anything any more. */
  isLost = false;
  /** Set where another process has opened it, and this one goes on with it. */
  readonly former: FormerSession | undefined;
  #nextKey = 1;
  #standing = 0;

  constructor(context: SessionContext, transport: UpstreamTransport, former?: FormerSession) {
    this.context = context;
    this.transport = transport;
    this.former = former;
    this.pending = new FlightTable(former?.firstId);
  }

  /** Opens the transport and settles what both sides can do. Rejects with UpstreamFault; the session is then closed. */
  async open(mayAskEra = true): Promise<void> {
    try {
      await this.transport.open(this);
      this.agreement = await settleEra(this, mayAskEra);
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** A request of our own. Rejects with UpstreamFault. */
  async request(method: string, params: Payload, timeoutMs = REQUEST_MS, takeLarge?: TakeLarge): Promise<Message> {
    try {
      return await this.#requestOnce(method, params, timeoutMs, takeLarge);
    } catch (error) {
      // What we ask for ourselves may be asked twice.
      if (!(error instanceof UpstreamFault) || !error.failure.isStale || this.isOver) throw error;
      return await this.#requestOnce(method, params, timeoutMs, takeLarge);
    }
  }

  /** The same for what may be answered at length: a long answer comes as it is, and nobody has read it yet. */
  requestPage(method: string, params: Payload): Promise<PageAnswer> {
    return new Promise((resolve, reject) => {
      this.request(method, params, REQUEST_MS, resolve).then(resolve, reject);
    });
  }

  #requestOnce(method: string, params: Payload, timeoutMs: number, takeLarge: TakeLarge | undefined): Promise<Message> {
    if (this.isOver) return Promise.reject(new UpstreamFault({ kind: "unreachable", message: "The session is over." }));
    const waiting = new PendingAnswer(this, this.context.timers, timeoutMs, takeLarge);
    waiting.id = this.begin(waiting);
    const dressed = this.modern?.dress(method, params);
    const text = requestText(waiting.id, method, dressed?.params ?? params);
    waiting.stream = this.transport.request(text, waiting, dressed);
    return waiting.answer;
  }

  /** Whether the server still knows this session, or still speaks the era in which it has none. */
  async isKnown(): Promise<boolean> {
    if (this.modern) return isStillModern(this);
    const failure = await this.probe();
    return !(failure?.isTurnedAway || failure?.kind === "expired");
  }

  /** Asks the server for an answer, whatever it says. Resolves to why there is none. */
  async probe(): Promise<UpstreamFailure | undefined> {
    try {
      await this.request(this.modern ? "server/discover" : "ping", payload(""), PROBE_MS);
      return undefined;
    } catch (error) {
      return failureOf(error);
    }
  }

  /** What the server says outside requests reaches us now. */
  get hears(): boolean {
    return this.modern ? this.modern.listening.isHeard : (this.transport.hears ?? true);
  }

  /** Sends a notification; a failure is logged, because nobody waits for it. */
  send(text: string, head?: string): Promise<void> {
    return this.isOver ? Promise.resolve() : this.#delivered(this.transport.send(text, head));
  }

  /** The same for an answer to what the server asked. */
  answer(text: string): Promise<void> {
    if (this.isOver) return Promise.resolve();
    return this.#delivered(this.transport.answer?.(text) ?? this.transport.send(text));
  }

  async #delivered(sent: Promise<UpstreamFailure | undefined>): Promise<void> {
    const failure = await sent;
    if (failure && !this.isOver) this.context.warnings.undelivered.note({ cause: failure.message });
  }

  /** The id under which a request of this sink goes out. */
  begin(sink: RequestSink): string {
    if (sink.isStanding) this.#standing++;
    return String(this.pending.add(sink));
  }

  waitingFor(id: string): RequestSink | undefined {
    return this.pending.get(Number(id));
  }

  /** A key for a question outside any call. */
  takeKey(): string {
    return `s${this.#nextKey++}`;
  }

  /** The request has its answer, or nobody waits for one any more. */
  forget(id: string): void {
    this.drop(id);
    this.rest();
  }

  /** The same, where what becomes of the answer decides whether the session may `rest`. */
  drop(id: string): void {
    if (this.pending.delete(Number(id))?.isStanding) this.#standing--;
  }

  /** Nobody waits for this answer any more: it may still come, and the session need not stay open for it. */
  leave(id: string): void {
    if (!this.waitingFor(id)) return;
    this.#standing++;
    this.rest();
  }

  rest(): void {
    if (this.isQuiet) this.context.onIdle(this);
  }

  /** A task goes on in this session. */
  hold(task: DrivenTask): void {
    this.driven.add(task);
  }

  /** The task is over, or nobody waits for it any more. */
  letGo(task: DrivenTask): void {
    this.driven.delete(task);
    this.rest();
  }

  /** Nobody waits for an answer, nor for the end of a task. */
  get isQuiet(): boolean {
    return this.pending.size === this.#standing && this.driven.size === 0;
  }

  /** The call in flight with that id. */
  callOf(id: string): RunningCall | undefined {
    const waiting = this.waitingFor(id);
    return waiting instanceof RunningCall ? waiting : undefined;
  }

  /** Also those that go on as tasks. */
  callsInFlight(): RunningCall[] {
    const sent = this.pending.values().filter((waiting) => waiting instanceof RunningCall);
    const asTasks = this.driven.values().map(({ running }) => running);
    return [...sent, ...asTasks].filter(({ isSettled }) => !isSettled);
  }

  /** The call in flight when there is exactly one. */
  onlyCall(): RunningCall | undefined {
    const [only, ...others] = this.callsInFlight();
    return others.length > 0 ? undefined : only;
  }

  /** The call in flight that speaks about a task: the one that waits for its result, if there is one. */
  callAbout(taskId: string): RunningCall | undefined {
    let found: RunningCall | undefined;
    for (const waiting of this.pending.values()) {
      if (!(waiting instanceof RunningCall) || waiting.call.resumes !== taskId) continue;
      if (waiting.call.method === "tasks/result") return waiting;
      found ??= waiting;
    }
    return found;
  }

  /** What the server lists decides how the call is sent: until it has been listed, the call has to wait. */
  mustListBefore(call: Call): boolean {
    if (this.modern) return this.modern.mustListBefore(call);
    return isModern(call) && call.method === "tools/call" && !this.context.taskTools.isKnown;
  }

  onLarge(answer: LargeAnswer): boolean {
    const waiting = this.waitingFor(answer.id);
    waiting?.onLarge?.(answer);
    return waiting?.onLarge !== undefined;
  }

  onMessage(message: Message): void {
    try {
      this.#route(message);
    } catch (error) {
      this.#onUnread(message, error);
    }
  }

  /** The transport reads on: what is wrong with one message, or with us, is nothing to those who wait for others. */
  #onUnread(message: Message, error: unknown): void {
    // Deeper in the message than the skim looks stood something that two readers could read differently.
    const isAmbiguous = error instanceof JsonFault;
    if (!isAmbiguous) this.context.log.error("a message of the server could not be taken", { cause: error });
    const text = isAmbiguous ? error.message : "The gateway failed.";
    const isAnswer = message.kind === "response";
    if (isAnswer || isAmbiguous) this.onFault(new MessageFault(-32600, text, isAnswer ? message.id : "null"));
    if (message.kind !== "request") return;
    void this.answer(errorText(message.id, { code: isAmbiguous ? -32600 : -32603, message: text }));
  }

  #route(message: Message): void {
    const waiting = message.kind === "response" ? this.waitingFor(message.id) : undefined;
    if (message.kind === "notification") routeNotification(this, message, undefined);
    else if (message.kind === "request") routeRequest(this, message, undefined);
    else if (waiting) waiting.onMessage(message);
    else this.context.meter.count("isthmus_events_late_total", this.context.provider);
  }

  onFault(fault: MessageFault): void {
    const isBatch = fault instanceof RefusedBatch;
    const ids = isBatch ? [...fault.ids] : [fault.id];
    const waiting = ids.map((id) => this.waitingFor(id)).filter((one) => one !== undefined);
    const message = isBatch
      ? "The server's answer stands in a batch that is not taken."
      : "The server's answer is not a valid message.";
    const isUnheld = fault instanceof UnheldMessage;
    const failure: UpstreamFailure = isUnheld ? noRoom() : { kind: "invalid", message, cause: fault };
    for (const one of waiting) one.onFailure(failure);
    if (isBatch) this.context.warnings.batch.note({ cause: fault.message });
    else if (waiting.length === 0) this.context.warnings.malformed.note({ cause: fault.message });
  }

  onLost(failure: UpstreamFailure): void {
    if (this.isOver) return;
    this.isLost = true;
    this.#end(failure, this.transport.unsent?.());
    this.context.onLost(this, failure);
    void this.transport.close();
  }

  onUnheard(): void {
    void this.context.look();
  }

  onHandle(): void {
    this.context.onHandle(this);
  }

  /** Ends the session; what still waits fails. `isKept`: the server shall keep it for another process. Safe to call twice. */
  async close(isKept = false): Promise<void> {
    if (!this.isOver) this.#end({ kind: "lost", message: "The session with the server was closed." });
    await this.transport.close(isKept);
  }

  /** `unsent`: requests that the server cannot have seen. */
  #end(failure: UpstreamFailure, unsent: readonly string[] = []): void {
    this.isOver = true;
    const waiting = this.pending.values();
    for (const task of this.driven.values()) task.onFailure(failure);
    for (const ask of this.asks.values()) ask.abort?.abort();
    this.asks.clear();
    this.modern?.listening.close();
    // Whose answer broke the pipe cannot be told when several wait: then nobody knows what became of theirs.
    const isAnyones = failure.kind === "invalid" && waiting.length - this.#standing > 1;
    for (const one of waiting) {
      if (unsent.includes(one.id)) one.onFailure({ ...failure, kind: "unreachable" });
      else one.onFailure(isAnyones ? { ...failure, kind: "lost" } : failure);
    }
  }
}
