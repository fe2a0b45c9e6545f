/**
 * Every call that is open, every ended one a reader may come back for, and the tasks that outlive their calls.
 * Kept runs are bounded in number, bytes and time: the oldest goes first, and is counted.
 */
import {
  type ByteBudget,
  type Call,
  type CallEvent,
  type CallOrder,
  type CallReply,
  type Clock,
  callError,
  FlightTable,
  GatewayError,
  HeldMessage,
  holderOf,
  keptArguments,
  type Log,
  type Meter,
  type Principal,
  type Reader,
  type Run,
  type Runs,
  SMALL_BYTES,
  type TaskRecord,
  type Timers,
} from "../../contract/index.ts";
import type { ViewEntry } from "../catalog/view-entry.ts";
import type { JournalLimits } from "./journal.ts";
import { KeptRuns } from "./kept-runs.ts";
import { LiveCall } from "./live-call.ts";
import { LiveRun, type RunOwner } from "./run.ts";
import { TaskHolds } from "./task-holds.ts";
import { type DurableTasks, TaskTable } from "./task-table.ts";

export type RunsOptions = {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly meter: Meter;
  readonly budget: ByteBudget;
  readonly journal?: JournalLimits;
  /** How long an ended run waits for a reader that comes back. */
  readonly keepMs?: number;
  /** Where tasks of providers outlive this process; unset: they do not. */
  readonly durable?: DurableTasks;
  readonly timeoutMs: (provider: string) => number;
  readonly reply: (provider: string, callId: string, reply: CallReply) => void;
};

/** Of ended runs; less where there is little memory. */
const KEPT_BYTES = 64 * 1024 * 1024;
const JOURNAL_LIMITS: JournalLimits = { maxEvents: 256, maxBytes: 1024 * 1024 };

export class LiveRuns implements Runs, RunOwner {
  readonly journalLimits: JournalLimits;
  readonly #options: RunsOptions;
  readonly #open = new FlightTable<LiveRun>();
  readonly #kept: KeptRuns;
  readonly #tasks: TaskTable;
  readonly #taskHolds: TaskHolds;

  constructor(options: RunsOptions) {
    this.#options = options;
    this.journalLimits = options.journal ?? JOURNAL_LIMITS;
    const { keepMs = 300_000, timers, meter, budget } = options;
    this.#kept = new KeptRuns({ keepMs, timers, meter, maxBytes: Math.min(KEPT_BYTES, budget.bytes / 4) });
    this.#tasks = new TaskTable(options.clock, options.durable);
    this.#taskHolds = new TaskHolds(options.timers);
  }

  start(order: CallOrder, reader: Reader): Run {
    const limit = order.timeoutMs ?? this.#options.timeoutMs(order.entry.target.provider);
    const call = new LiveCall(order, this.#options.clock.now() + limit);
    const run = new LiveRun(call, this);
    call.launch(run, this.#open.add(run));
    this.#hold(run, order);
    run.attach(reader, -1);
    const entry = order.entry as ViewEntry;
    entry.pipeline(call, run).then(
      () => this.#settle(run, undefined),
      (error) => this.#settle(run, error),
    );
    return run;
  }

  /** What is too large to be nobody's is held for its caller; the rest costs an addition. */
  #hold(run: LiveRun, { held, input, principal }: CallOrder): void {
    const bytes = (input.frame ?? input).text.length;
    if (held) run.heldMessage = held.hold();
    else if (bytes > SMALL_BYTES)
      run.heldMessage = new HeldMessage(this.#options.budget, holderOf(principal, ""), bytes).hold();
    else {
      run.countedBytes = bytes;
      this.#options.budget.count(bytes);
    }
  }

  /** Its reader has everything, or is gone for good; the provider may still have the message of a call that was broken off. */
  #letGo(run: LiveRun): void {
    const { heldMessage, countedBytes } = run;
    run.heldMessage = undefined;
    run.countedBytes = 0;
    if (countedBytes > 0) this.#options.budget.count(-countedBytes);
    if (!heldMessage) return;
    const { brokenOff } = run;
    if (brokenOff) void brokenOff.then(() => heldMessage.letGo());
    else heldMessage.letGo();
  }

  /** The pipeline is through. A run that has no end yet gets one, because callers wait for it. */
  #settle(run: LiveRun, thrown: unknown): void {
    if (run.isEnded) {
      if (thrown !== undefined && !GatewayError.is(thrown))
        this.#options.log.error("stage failed after the end", { callId: run.id, cause: thrown });
      return;
    }
    const error =
      thrown === undefined
        ? new GatewayError("INTERNAL", { message: "The call went through without an end." })
        : callError(thrown);
    if (error.code === "INTERNAL")
      this.#options.log.error("call failed inside the gateway", { callId: run.id, cause: error.cause ?? error });
    run.end(error);
  }

  find(id: string): Run | undefined {
    const open = this.#open.get(LiveCall.keyOf(id));
    return open?.id === id ? open : this.#kept.get(id);
  }

  /** The calls to this provider that have not ended. */
  openOf(provider: string): LiveRun[] {
    return [...this.#open.values()].filter((run) => run.call.target.provider === provider);
  }

  openAll(): readonly Run[] {
    return [...this.#open.values()];
  }

  task(id: string): Promise<TaskRecord | undefined> {
    return this.#tasks.get(id);
  }

  tasksOf(principal: Principal): Promise<readonly TaskRecord[]> {
    return this.#tasks.of(principal);
  }

  /** A provider turned the call into a task that bears the call's id. A promise: nobody may hear of it before. */
  recordTask(call: Call, { ttlMs = 0, handle }: { ttlMs?: number; handle?: string }): Promise<void> | undefined {
    return this.#tasks.add({
      id: call.id,
      principal: call.principal,
      target: call.target,
      args: keptArguments(call),
      expiresAt: this.#options.clock.now() + ttlMs,
      ...(handle !== undefined && { handle }),
    });
  }

  holdTask(id: string, ms: number): Promise<void> {
    return this.#taskHolds.hold(id, ms);
  }

  /** Its provider has said so. */
  taskOver(id: string): void {
    this.#taskHolds.over(id);
  }

  dropped(event: CallEvent): void {
    this.#options.meter.count("isthmus_events_dropped_total", event.type);
  }

  journaled(bytes: number): void {
    this.#options.budget.count(bytes);
  }

  late(call: Call): void {
    this.#options.meter.count("isthmus_events_late_total", call.target.provider);
  }

  unread(call: Call, cause: unknown): void {
    this.#options.log.error("an event could not be handed to its reader", { callId: call.id, cause });
  }

  finished(run: LiveRun, isWanted: boolean): void {
    this.#open.delete(LiveCall.keyOf(run.id));
    this.#letGo(run);
    if (isWanted) this.#kept.add(run);
    else this.#kept.delete(run.id);
  }

  reply(call: Call, reply: CallReply): void {
    this.#options.reply(call.target.provider, call.id, reply);
  }

  stats(): { open: number; kept: number; keptBytes: number; tasks: number } {
    return { open: this.#open.size, kept: this.#kept.size, keptBytes: this.#kept.bytes, tasks: this.#tasks.size };
  }

  /** Cancels what is open and forgets what is kept. */
  close(): void {
    for (const run of this.#open.values()) run.breakOff("the gateway is shutting down");
    this.#kept.clear();
    this.#taskHolds.close();
  }
}
