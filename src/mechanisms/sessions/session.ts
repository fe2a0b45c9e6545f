/** One client's session: what it declared, what it waits for, and the way to reach it. Idle ones are small. */
import type {
  Answer,
  Ask,
  Departure,
  GatewayError,
  Meter,
  Notice,
  Payload,
  Principal,
  Run,
  SessionRef,
} from "../../contract/index.ts";
import type { LogWriter } from "./log-writer.ts";
import type { OutboxItem } from "./outbox.ts";
import { Outbox, type OutboxLimits } from "./outbox.ts";

/** How a front speaks to its clients outside calls. One object for all sessions of a front. */
export interface Voice {
  /** The notice as a message for this client, or undefined when it is not to hear it. */
  notice(session: Session, notice: Notice): OutboxItem | undefined;
  /** What tells this client that lists have changed; nothing where it sees no difference. */
  listChanged(session: Session, notice: Notice): readonly OutboxItem[];
  /** An answer that is known without asking the client. Absent: there never is one. */
  answer?(session: Session, ask: Ask): Answer | undefined;
  /** The question as a message, or undefined when this client cannot be asked it. */
  question(session: Session, id: string, ask: Ask): string | undefined;
  /** Says that the question with this id needs no answer any more. */
  withdrawal(id: string): string;
  /** The session is over, or goes on elsewhere, and everything of it was let go. */
  ended(session: Session, reason: Departure): void;
}

/** A question the client has not answered. Of a run, or (with `settle`) asked outside any call. */
export type OpenAsk = {
  readonly key: string;
  readonly run?: Run;
  readonly settle?: (answer: Answer | GatewayError) => void;
  /** Of a task: whether this caller may answer it. */
  readonly mayAnswer?: (by: Principal) => boolean;
  isAnswered: boolean;
};

/** A request that is being served. */
export interface RunningCall {
  readonly run: Run | undefined;
  /** The session is over: ends the call and whatever waits for its answer. */
  abandon(reason: string): void;
  /** The session is another process's now: nobody will know how the call ended. Absent: it is abandoned. */
  lose?(reason: string): void;
}

/** A resource the client wants to hear about: as it names it, and as the provider does. */
export type Subscription = { readonly provider: string; readonly shown: string; readonly own: string };

export type SessionOpening = {
  readonly voice: Voice;
  readonly principal: Principal;
  readonly catalog: string;
  readonly protocol: string;
  readonly capabilities: Payload;
  readonly clientInfo: Payload;
  readonly canBeAsked: boolean;
  /** No client is told its id: it lives as long as its line, or as somebody uses it, and in this process alone. */
  readonly isUnnamed?: boolean;
  /** See SessionRef. */
  readonly isPeer?: boolean;
};

/** What ties a session to its entry in shared state. */
export type Kept = {
  /** Who we were when it became ours. */
  readonly member: string;
  readonly fence: number;
  savedAt: number;
  /** The write that is under way. */
  saving: Promise<void> | undefined;
  /** The one after it, for everybody who wants one meanwhile. */
  savingNext: Promise<void> | undefined;
  /** It is being given up to other processes. */
  releasing: Promise<void> | undefined;
  writer: LogWriter | undefined;
  /** Hears no more of what others say of it. */
  stopHearing: () => void;
};

export class Session implements SessionRef {
  readonly id: string;
  readonly voice: Voice;
  /** As it was proved last; its id never changes. */
  principal: Principal;
  readonly catalog: string;
  readonly protocol: string;
  readonly capabilities: Payload;
  readonly clientInfo: Payload;
  readonly canBeAsked: boolean;
  readonly isEphemeral: boolean;
  readonly isUnnamed: boolean;
  readonly isPeer: boolean;
  /** What this session sees is ready. */
  isEntered = false;
  isEnded = false;
  logLevel: string | undefined;
  lastUsed: number;
  readonly startedAt: number;
  /** Absent where it is known in this process alone. */
  kept: Kept | undefined;
  // Made when first needed: most sessions never need most of them.
  subscriptions: Map<string, Subscription> | undefined;
  /** How many characters their URIs have. */
  subscribedText = 0;
  asks: Map<string, OpenAsk> | undefined;
  // A list, not a Map: sessions have few calls at once, and a Map with that much coming and going is hard on the
  // collector (see contract/flight-table.ts).
  #running: { readonly requestId: string; readonly call: RunningCall }[] | undefined;
  outbox: Outbox | undefined;
  /** Which list of each kind the client was last told about, in the front's own numbers. */
  seen: Record<string, number> | undefined;
  #lastAsk = 0;

  constructor(id: string, opening: SessionOpening, now: number, isEphemeral: boolean, startedAt = now) {
    this.id = id;
    this.voice = opening.voice;
    this.principal = opening.principal;
    this.catalog = opening.catalog;
    this.protocol = opening.protocol;
    this.capabilities = opening.capabilities;
    this.clientInfo = opening.clientInfo;
    this.canBeAsked = opening.canBeAsked;
    this.isEphemeral = isEphemeral;
    this.isUnnamed = opening.isUnnamed === true;
    this.isPeer = opening.isPeer === true;
    this.lastUsed = now;
    this.startedAt = startedAt;
  }

  /** A session with a running call or an open stream is never idle. Forgets calls that ended while nobody read them. */
  get isBusy(): boolean {
    return this.outbox?.isOpen === true || this.hasRunning;
  }

  /** Calls of this session have not ended. */
  get hasRunning(): boolean {
    this.#running = this.#running?.filter(({ call }) => call.run?.isEnded !== true);
    return this.#running !== undefined && this.#running.length > 0;
  }

  openOutbox(limits: OutboxLimits, meter: Meter): Outbox {
    this.outbox ??= new Outbox(limits, meter);
    return this.outbox;
  }

  addRunning(requestId: string, call: RunningCall): void {
    this.dropRunning(requestId);
    this.#running ??= [];
    this.#running.push({ requestId, call });
  }

  runningCall(requestId: string): RunningCall | undefined {
    return this.#running?.find((one) => one.requestId === requestId)?.call;
  }

  /** The request is served; with `call`: if it is still that call which serves it. */
  dropRunning(requestId: string, call?: RunningCall): void {
    const running = this.#running;
    const at = running?.findIndex((one) => one.requestId === requestId) ?? -1;
    if (!running || at < 0 || (call && running[at]?.call !== call)) return;
    const last = running.pop();
    if (last && at < running.length) running[at] = last;
  }

  /** Every call that runs; the session knows of none any more. */
  takeRunning(): RunningCall[] {
    const calls = this.#running?.map(({ call }) => call) ?? [];
    this.#running = undefined;
    return calls;
  }

  /** Puts a question on the books and gives the id it goes out under. Ids are never used twice in a session. */
  addAsk(ask: OpenAsk): string {
    const id = String(++this.#lastAsk);
    this.asks ??= new Map();
    for (const [other, open] of this.asks) if (open.run?.isEnded) this.asks.delete(other);
    this.asks.set(id, ask);
    return id;
  }

  /** Questions are numbered from here on: those before it were asked by another process. */
  askFrom(number: number): void {
    this.#lastAsk = number;
  }

  /** A question that waits for an answer. */
  openAsk(id: string): OpenAsk | undefined {
    const ask = this.asks?.get(id);
    return ask?.isAnswered ? undefined : ask;
  }

  /** Takes an answer to a question of this session. False: there is no such question, or it was answered before. */
  answer(id: string, outcome: "result" | "fault", payload: Payload): boolean {
    const ask = this.openAsk(id);
    if (!ask) return false;
    ask.isAnswered = true;
    const answer: Answer = { key: ask.key, outcome, payload };
    if (ask.run) ask.run.reply({ type: "answer", answers: [answer] });
    else {
      this.asks?.delete(id);
      ask.settle?.(answer);
    }
    return true;
  }

  /** The id under which a question of a run went out before. */
  askIdOf(run: Run, key: string): string | undefined {
    for (const [id, ask] of this.asks ?? []) if (ask.run === run && ask.key === key) return id;
    return undefined;
  }

  /** The run is over: nobody waits for answers to its questions. */
  dropAsksOf(run: Run): void {
    for (const [id, ask] of this.asks ?? []) if (ask.run === run) this.asks?.delete(id);
  }
}
