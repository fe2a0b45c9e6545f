/**
 * The kernel's record of one call. The run owns the call; readers come and go.
 *
 * Invariants:
 *  1. Exactly one `end` or `error` is ever given out; after it every event is late.
 *  2. `#taken` is the cursor after the last event a reader took; without a reader it does not move.
 *  3. `#asks` holds the questions that wait for an answer; their events stay in the journal until then.
 */
import {
  type Answer,
  type Attachment,
  type Call,
  type CallEvent,
  type CallReply,
  GatewayError,
  type HeldMessage,
  JsonFault,
  MAX_OPEN_ASKS,
  type Out,
  type Payload,
  type Reader,
  type Run,
  type StagedRun,
} from "../../contract/index.ts";
import { Journal, type JournalLimits } from "./journal.ts";
import type { LiveCall } from "./live-call.ts";

/** What a run needs from the registry that made it. */
export interface RunOwner {
  readonly journalLimits: JournalLimits;
  dropped(event: CallEvent): void;
  /** So many bytes more are kept in journals of open runs; negative: fewer. */
  journaled(bytes: number): void;
  late(call: Call): void;
  /** The run has ended and its reader, if any, has everything. `isWanted`: a reader may come back for it. */
  finished(run: LiveRun, isWanted: boolean): void;
  reply(call: Call, reply: CallReply): void;
  /** A reader threw where it was given an event. */
  unread(call: Call, cause: unknown): void;
  /** Resolves when the task that this call has become is over, or after this time. */
  holdTask(id: string, ms: number): Promise<void>;
}

/** The hold of dispatch on a call. */
export interface RunControl {
  /** Ends the call from outside, through the stages' own `out`. */
  abort(error: GatewayError): void;
  /** Questions are open, or the last one was answered: thinking time is not the tool's. */
  asking(isAsking: boolean): void;
  /** The deadline is this far away now. */
  extend(ms: number): void;
}

export class LiveRun implements Run, Out {
  readonly call: Call;
  readonly #owner: RunOwner;
  #journal: Journal | undefined;
  #next = 0;
  #taken = 0;
  #reader: Reader | undefined;
  #attachment: object | undefined;
  #isBlocked = false;
  #mayReturn = false;
  #ready: { promise: Promise<void>; resolve: () => void } | undefined;
  #asks: Map<string, number> | undefined;
  /** Who holds the call while it is dispatched. */
  control: RunControl | undefined;
  /** What the caller said when it cancelled. */
  lastWords: Payload | undefined;
  /** Set by a stage that asks before the call is dispatched. */
  onAnswers: ((answers: readonly Answer[]) => void) | undefined;
  witness: StagedRun["witness"];
  beforeSending: StagedRun["beforeSending"];
  #lingering: StagedRun["lingering"];
  /** Of a call that goes on as a task of its provider: how long it counts as running at most. */
  taskMs: number | undefined;
  /** How long the call may take from its dispatch on, where somebody said so before that. */
  extensionMs: number | undefined;
  isEnded = false;
  onFinished: (() => void) | undefined;
  /** What it came in, while it holds that. */
  heldMessage: HeldMessage | undefined;
  /** Of an input that is too small for that. */
  countedBytes = 0;
  /** Resolves when the provider is through with a call that was broken off. */
  brokenOff: StagedRun["lingering"];
  #countedJournal = 0;
  #isFinished = false;

  constructor(call: Call, owner: RunOwner) {
    this.call = call;
    this.#owner = owner;
  }

  get lingering(): StagedRun["lingering"] {
    if (this.taskMs !== undefined) this.#lingering ??= this.#owner.holdTask(this.id, this.taskMs);
    return this.#lingering;
  }

  set lingering(promise: StagedRun["lingering"]) {
    this.#lingering = this.brokenOff = promise;
  }

  get isRead(): boolean {
    return this.#reader !== undefined && this.#reader.isGone !== true;
  }

  get id(): string {
    return this.call.id;
  }

  get journalBytes(): number {
    return this.#journal?.bytes ?? 0;
  }

  /** What keeping this run costs: its journal, and the message it came in, which a reader that comes back is served by. */
  get heldBytes(): number {
    const { input } = this.call;
    return this.journalBytes + input.text.length + (input.frame?.text.length ?? 0);
  }

  write(event: CallEvent): boolean {
    if (this.isEnded) {
      this.#owner.late(this.call);
      return true;
    }
    const cursor = this.#next++;
    if (event.type === "end" || event.type === "error") this.isEnded = true;
    else if (event.type === "ask") this.#openAsks(event, cursor);
    const reader = this.#reader;
    if (reader && !this.#isBlocked && this.#taken === cursor) {
      const isKept = reader.keeps;
      if (isKept) this.#keep(cursor, event);
      this.#taken = cursor + 1;
      if (!this.#give(reader, event, cursor)) this.#isBlocked = true;
      // The event may be what made the reader one that can come back: then it is the first it may have lost.
      if (!isKept && reader.keeps) this.#keep(cursor, event);
    } else this.#keep(cursor, event);
    if (this.isEnded) this.#finish();
    else if (this.#journal?.isFull) this.#shrink();
    if (this.#journal) this.#recount();
    return !this.#isBehind;
  }

  /** What nobody has read yet is in memory like anything else. What ended is kept within bounds of its own. */
  #recount(): void {
    const bytes = this.#isFinished ? 0 : this.journalBytes;
    if (bytes === this.#countedJournal) return;
    this.#owner.journaled(bytes - this.#countedJournal);
    this.#countedJournal = bytes;
  }

  /**
   * A fault of the reader stays with its own call: whoever writes the event reads for others, too. Where it was the end, the
   * reader is told once more how the call ended, in words that need nothing of the provider's.
   */
  #give(reader: Reader, event: CallEvent, cursor: number): boolean {
    try {
      return reader.take(event, cursor);
    } catch (cause) {
      this.#owner.unread(this.call, cause);
      if (event.type === "end") this.#give(reader, { type: "error", error: unreadError(cause) }, cursor);
      return true;
    }
  }

  /** Resolves when the reader has caught up, or is gone. */
  ready(): Promise<void> {
    if (!this.#isBehind) return Promise.resolve();
    this.#ready ??= Promise.withResolvers<void>();
    return this.#ready.promise;
  }

  get #isBehind(): boolean {
    return this.#reader !== undefined && this.#journal?.isBehind(this.#taken) === true;
  }

  #keep(cursor: number, event: CallEvent): void {
    this.#journal ??= new Journal(this.#owner.journalLimits);
    this.#journal.add(cursor, event);
  }

  #openAsks(event: CallEvent & { type: "ask" }, cursor: number): void {
    this.#asks ??= new Map();
    for (const ask of event.asks) this.#asks.set(ask.key, cursor);
    this.control?.asking(true);
  }

  #shrink(): void {
    const isPinned = (event: CallEvent) => event.type === "ask" && event.asks.some((ask) => this.#asks?.has(ask.key));
    const fits = this.#journal?.shrink(this.#taken, isPinned, (event) => this.#owner.dropped(event));
    if (fits && (this.#asks?.size ?? 0) <= MAX_OPEN_ASKS) return;
    this.end(
      new GatewayError("OVERLOADED", { message: "The reader of this call is too slow for what the provider sends." }),
    );
  }

  /** Ends the run with our own error, through the stages when the call has been dispatched. */
  end(error: GatewayError): void {
    if (this.isEnded) return;
    if (this.control) this.control.abort(error);
    // A stage that waits before the dispatch hears of it by the signal.
    else (this.call as LiveCall).abortSignal?.(error);
    // Not dispatched yet, or a stage that does not pass errors on at once: the run ends all the same.
    if (!this.isEnded) this.witness?.ending(error);
    if (!this.isEnded) this.write({ type: "error", error });
  }

  attach(reader: Reader, cursor: number): Attachment {
    const from = Math.min(cursor + 1, this.#next);
    const missed = this.#next - from - (this.#journal?.countFrom(from) ?? 0);
    const attachment = {
      missed,
      resume: () => {
        if (this.#attachment !== attachment) return;
        this.#isBlocked = false;
        this.#pump();
      },
      detach: () => {
        if (this.#attachment === attachment) this.#detach();
      },
    };
    this.#attachment = attachment;
    this.#reader = reader;
    this.#mayReturn ||= reader.keeps;
    this.#isBlocked = false;
    this.#taken = from;
    this.#pump();
    return attachment;
  }

  #pump(): void {
    const reader = this.#reader;
    while (reader && reader === this.#reader && !this.#isBlocked) {
      const entry = this.#journal?.from(this.#taken);
      if (!entry) {
        this.#taken = this.#next;
        break;
      }
      this.#taken = entry.cursor + 1;
      if (!this.#give(reader, entry.event, entry.cursor)) this.#isBlocked = true;
    }
    if (reader && !reader.keeps) this.#journal?.forgetBefore(this.#taken);
    if (!this.#isBehind) this.#letGo();
    if (this.isEnded) this.#finish();
    if (this.#journal) this.#recount();
  }

  #letGo(): void {
    this.#ready?.resolve();
    this.#ready = undefined;
  }

  #detach(): void {
    this.#reader = undefined;
    this.#attachment = undefined;
    this.#isBlocked = false;
    this.#letGo();
    if (this.isEnded) this.#finish();
    else if (this.call.life === "bound") this.cancel("the caller went away");
    else if (this.#journal?.isFull) this.#shrink();
    if (this.#journal) this.#recount();
  }

  #finish(): void {
    const hasAll = this.#taken === this.#next;
    // What a reader took may still be lost on its way: one that can come back may come back for the end, too.
    this.#mayReturn ||= this.#reader?.keeps === true;
    if (this.#reader && !hasAll) return;
    this.#isFinished = true;
    this.#owner.finished(this, this.#mayReturn || (!hasAll && this.call.life === "detached"));
    const tell = this.onFinished;
    this.onFinished = undefined;
    tell?.();
  }

  extend(ms: number): void {
    if (this.control) this.control.extend(ms);
    else this.extensionMs = ms;
  }

  reply(reply: CallReply): void {
    if (this.isEnded) return;
    if (reply.type === "cancel") this.cancel(reply.reason, reply.payload);
    else if (reply.type === "notice") this.#owner.reply(this.call, reply);
    else this.#answer(reply);
  }

  #answer(reply: CallReply & { type: "answer" }): void {
    const answers = reply.answers.filter((answer: Answer) => this.#asks?.delete(answer.key));
    if (answers.length === 0) return;
    if (this.onAnswers) return this.onAnswers(answers);
    if (this.#asks?.size === 0) this.control?.asking(false);
    this.#owner.reply(this.call, { type: "answer", answers });
  }

  /** Not the caller ends it, but the gateway. What a call that was sent has done, nobody here will know. */
  breakOff(reason: string): void {
    if ((this.call.timing?.sentAt ?? 0) > 0) return this.lose(reason);
    const message = `The call was not sent: ${reason}.`;
    this.end(new GatewayError("CANCELLED", { message, details: { reason, by: "gateway" } }));
  }

  lose(reason: string): void {
    this.end(new GatewayError("OUTCOME_UNKNOWN", { details: { reason, by: "gateway" } }));
  }

  cancel(reason?: string, payload?: Payload): void {
    this.lastWords = payload;
    // Whoever says so does not want the call; of one who is gone nobody knows.
    const by = payload && { by: "client" };
    this.end(new GatewayError("CANCELLED", { details: { ...(reason !== undefined && { reason }), ...by } }));
  }
}

/** What a caller is told whose reader could not take the end. */
function unreadError(cause: unknown): GatewayError {
  if (!(cause instanceof JsonFault)) return GatewayError.from(cause);
  return new GatewayError("PROVIDER_FAILED", { message: "The provider's answer is ambiguous.", cause });
}
