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
import type { ConsentSurroundings } from "./consent-question.ts";
import type { FormerSession } from "./former-session.ts";
import type { Agreement } from "./handshake.ts";
import { type OpenAsk, routeNotification, routeRequest } from "./incoming.ts";
import type { Leases } from "./leases.ts";
import type { LogLevels } from "./log-levels.ts";
import type { Eras } from "./modern/eras.ts";
import { isModern, type ModernSide } from "./modern/modern-side.ts";
import { isStillModern, settleEra } from "./opening.ts";
import { PendingAnswer } from "./pending-answer.ts";
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
  /** Whose session it is; undefined for the one that is shared. */
  readonly client: SessionRef | undefined;
  readonly host: Host;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly meter: Meter;
  readonly tasks: TaskTable;
  readonly taskTools: TaskTools;
  readonly levels: LogLevels;
  readonly eras: Eras;
  readonly leases: Leases;
  /** Whom to ask where credentials are missing; undefined where the config has them all. */
  readonly consent: ConsentSurroundings | undefined;
  /** Calls that wait for input and will be sent again. */
  heldCalls: number;
  /** The principals whose calls it has carried; more than two are not counted. */
  readonly principals: Set<string>;
  onListChanged(kinds: readonly ListedKind[]): void;
  /** Nothing can come from this session any more. */
  onLost(session: UpstreamSession, failure: UpstreamFailure): void;
  /** A request of this session could not be delivered. */
  onTrouble(session: UpstreamSession, failure: UpstreamFailure): void;
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

const REQUEST_MS = 30_000;
const PING_MS = 5000;

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
  /** Set while the server is taken for one of 2026-07-28. */
  modern: ModernSide | undefined;
  /** It has been asked for its era and has not answered: if the process ends now, that may be why. */
  diesAsked = false;
  isOver = false;
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
  async request(method: string, params: Payload, timeoutMs = REQUEST_MS): Promise<Message> {
    try {
      return await this.#requestOnce(method, params, timeoutMs);
    } catch (error) {
      // What we ask for ourselves may be asked twice.
      if (!(error instanceof UpstreamFault) || !error.failure.isStale || this.isOver) throw error;
      return await this.#requestOnce(method, params, timeoutMs);
    }
  }

  #requestOnce(method: string, params: Payload, timeoutMs: number): Promise<Message> {
    if (this.isOver) return Promise.reject(new UpstreamFault({ kind: "unreachable", message: "The session is over." }));
    const waiting = new PendingAnswer(this, this.context.timers, timeoutMs);
    waiting.id = this.begin(waiting);
    const dressed = this.modern?.dress(method, params);
    const text = requestText(waiting.id, method, dressed?.params ?? params);
    waiting.stream = this.transport.request(text, waiting, dressed);
    return waiting.answer;
  }

  /** Whether the server still knows this session, or still speaks the era in which it has none. */
  async isKnown(): Promise<boolean> {
    if (this.modern) return isStillModern(this);
    try {
      await this.request("ping", payload(""), PING_MS);
      return true;
    } catch (error) {
      return !(error instanceof UpstreamFault && (error.failure.isTurnedAway || error.failure.kind === "expired"));
    }
  }

  /** Sends a notification or an answer; a failure is logged, because nobody waits for it. */
  send(text: string, head?: string): Promise<void> {
    if (this.isOver) return Promise.resolve();
    return this.transport.send(text, head).then((failure) => {
      if (failure && !this.isOver) this.context.log.warn("upstream message not delivered", { cause: failure.message });
    });
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

  onMessage(message: Message): void {
    try {
      this.#route(message);
    } catch (error) {
      // Deeper in the message than the skim looks stood something that two readers could read differently.
      if (!(error instanceof JsonFault)) throw error;
      this.onFault(new MessageFault(-32600, error.message, message.kind === "response" ? message.id : "null"));
      if (message.kind === "request") void this.send(errorText(message.id, { code: -32600, message: error.message }));
    }
  }

  #route(message: Message): void {
    const waiting = message.kind === "response" ? this.waitingFor(message.id) : undefined;
    if (message.kind === "notification") routeNotification(this, message, undefined);
    else if (message.kind === "request") routeRequest(this, message, undefined);
    else if (waiting) waiting.onMessage(message);
    else this.context.meter.count("isthmus_events_late_total", this.context.provider);
  }

  onFault(fault: MessageFault): void {
    const waiting = this.waitingFor(fault.id);
    if (waiting)
      waiting.onFailure({ kind: "invalid", message: "The server's answer is not a valid message.", cause: fault });
    else this.context.log.debug("upstream text is no message", { cause: fault.message });
  }

  onLost(failure: UpstreamFailure): void {
    if (this.isOver) return;
    this.#end(failure, this.transport.unsent?.());
    this.context.onLost(this, failure);
    void this.transport.close();
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
