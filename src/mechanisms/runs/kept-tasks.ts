/**
 * Every task that the gateway keeps for its callers. Bounded in number, in bytes of what is kept, and in time. With a store
 * the tasks outlive the process: as rows, with bounds of their own, which stay when what is kept here has to go.
 */

import type { Reader, Run, Timer, Timers } from "../../contract/index.ts";
import { type Ask, type Clock, GatewayError, keptArguments, type Meter, type Principal } from "../../contract/index.ts";
import { KeptTask, type TaskOwner } from "./kept-task.ts";
import type { TaskFacts, TaskOutcome } from "./task-facts.ts";
import { type FoundTask, type TaskChoice, TaskRowBook, type TaskStore } from "./task-rows.ts";
import type { TaskTerms } from "./task-terms.ts";

const MAX_TASKS = 10_000;
const MAX_PER_PRINCIPAL = 1000;
const MAX_BYTES = 64 * 1024 * 1024;
const SWEEP_MS = 60_000;
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 30_000;

export type KeptTasksOptions = {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly meter: Meter;
  readonly maxTasks?: number;
  readonly maxPerPrincipal?: number;
  /** Of what is kept of tasks that are over. */
  readonly maxBytes?: number;
  /** Where tasks outlive the process; unset: they do not. */
  readonly store?: TaskStore;
};

/** Where the former reader of a run stood, and the questions it had taken and not settled. */
export type Handover = { readonly cursor: number; readonly asks: Iterable<Ask> };

const NOT_STORED = "The call could not be kept as a task, and was cancelled; whether it took effect is not known.";

export class KeptTasks implements TaskOwner {
  readonly timers: Timers;
  readonly #options: KeptTasksOptions;
  readonly #tasks = new Map<string, KeptTask>();
  readonly #byPrincipal = new Map<string, Set<KeptTask>>();
  /** Those that are over, in the order in which they ended. */
  readonly #over = new Set<KeptTask>();
  #bytes = 0;
  readonly #rows: TaskRowBook | undefined;
  #sweeping: Timer | undefined;
  #isClosed = false;
  /** From our clock to everybody's. */
  readonly #epoch: number;

  constructor(options: KeptTasksOptions) {
    this.#options = options;
    this.timers = options.timers;
    this.#epoch = Date.now() - options.clock.now();
    this.#rows = options.store && new TaskRowBook(options.store, () => this.now());
    this.#sweeping = this.#rows && this.#sweepLater(this.#rows);
  }

  get size(): number {
    return this.#tasks.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Tasks that wait for input and for nothing else. */
  get waiting(): number {
    let count = 0;
    for (const { status } of this.#tasks.values()) if (status === "input_required") count++;
    return count;
  }

  /** Whether tasks can be made now. */
  get isUp(): boolean {
    return this.#rows?.isUp !== false;
  }

  now(): number {
    return this.#epoch + this.#options.clock.now();
  }

  /** Makes a task of a run that somebody reads. Undefined: there is no room, and the reader stays. */
  keep(run: Run, { cursor, asks }: Handover, terms: TaskTerms): KeptTask | undefined {
    const { principal } = run.call;
    if (!this.#hasRoom(principal)) return undefined;
    const task = new KeptTask(this, principal, terms);
    this.#begin(task, run, asks);
    run.attach(task, cursor);
    return task;
  }

  /**
   * Makes a task of a run that is started for it. Undefined: there is no room, and nothing was started. Throws
   * STATE_UNAVAILABLE where it is known that the task could not be stored.
   */
  start(principal: Principal, startRun: (reader: Reader) => Run, terms: TaskTerms): KeptTask | undefined {
    if (!this.isUp) throw new GatewayError("STATE_UNAVAILABLE");
    if (!this.#hasRoom(principal)) return undefined;
    const task = new KeptTask(this, principal, terms);
    this.#begin(task, startRun(task), []);
    return task;
  }

  #begin(task: KeptTask, run: Run, asks: Iterable<Ask>): void {
    this.#tasks.set(run.id, task);
    const own = this.#byPrincipal.get(task.principal.id) ?? new Set();
    this.#byPrincipal.set(task.principal.id, own.add(task));
    task.id = run.id;
    task.target = run.call.target;
    task.args = keptArguments(run.call);
    this.#store(task, run);
    task.begin(run, asks);
  }

  /** A task that cannot be stored is none, and its call is not wanted: but the server may have heard of it. */
  #store(task: KeptTask, { call }: Run): void {
    const rows = this.#rows;
    if (!rows) return;
    task.stored = rows.add(task, task.expiresAt).catch((cause: unknown) => {
      const wasSent = (call.timing?.sentAt ?? 0) > 0;
      task.lapse("the task could not be stored");
      this.#remove(task);
      throw wasSent ? new GatewayError("OUTCOME_UNKNOWN", { message: NOT_STORED, cause }) : cause;
    });
    task.stored.catch(() => undefined);
  }

  #sweepLater(rows: TaskRowBook): Timer {
    return this.timers.after(SWEEP_MS, () => {
      rows.expire().catch(() => undefined);
      if (!this.#isClosed) this.#sweeping = this.#sweepLater(rows);
    });
  }

  settle(task: KeptTask, outcome: TaskOutcome, done: (decided?: TaskOutcome) => void): Promise<void> | undefined {
    const rows = this.#rows;
    if (!rows) return void done();
    const attempt = async (): Promise<void> => {
      await task.stored;
      done(await rows.close(task, outcome, task.expiresAt));
    };
    const again = (afterMs: number) => {
      if (task.isOver || this.#isClosed) return;
      this.timers.after(afterMs, () => attempt().catch(() => again(Math.min(afterMs * 2, LAST_RETRY_MS))));
    };
    const first = attempt();
    first.catch(() => again(FIRST_RETRY_MS));
    return first;
  }

  prolonged(task: KeptTask): void {
    const rows = this.#rows;
    // What is not written here is written with the end.
    if (rows) task.stored?.then(() => rows.write(task, task.expiresAt)).catch(() => undefined);
  }

  #hasRoom({ id }: Principal): boolean {
    const { maxTasks = MAX_TASKS, maxPerPrincipal = MAX_PER_PRINCIPAL } = this.#options;
    const own = this.#byPrincipal.get(id);
    if (own && own.size >= maxPerPrincipal && !this.#evict(own)) return false;
    return this.#tasks.size < maxTasks || this.#evict(this.#over);
  }

  /** Lets go of the first that is over. False: none is. */
  #evict(among: Iterable<KeptTask>): boolean {
    for (const task of among) {
      if (!task.isOver) continue;
      this.#remove(task);
      this.#options.meter.count("isthmus_runs_evicted_total", "task");
      return true;
    }
    return false;
  }

  ended(task: KeptTask): void {
    this.#over.add(task);
    this.#bytes += task.bytes;
    while (this.#bytes > (this.#options.maxBytes ?? MAX_BYTES)) this.#evict(this.#over);
  }

  expired(task: KeptTask): void {
    task.lapse("the time of the task is over");
    this.#remove(task);
    this.#rows?.drop(task.id).catch(() => undefined);
  }

  #remove(task: KeptTask): void {
    if (this.#over.delete(task)) this.#bytes -= task.bytes;
    this.#tasks.delete(task.id);
    const own = this.#byPrincipal.get(task.principal.id);
    own?.delete(task);
    if (own?.size === 0) this.#byPrincipal.delete(task.principal.id);
    task.forget();
  }

  /** One that is not here: as its row has it. Undefined as with `find`. Rejects with STATE_UNAVAILABLE. */
  async seek(id: string, principal: Principal): Promise<FoundTask | undefined> {
    return await this.#rows?.find(id, principal);
  }

  /** Those of other processes too, newest first; what came of them may be left out. Rejects with STATE_UNAVAILABLE. */
  async list(principal: Principal, { limit, isWanted }: TaskChoice): Promise<readonly TaskFacts[]> {
    const here = this.of(principal).filter(isWanted).slice(0, limit);
    const isElsewhere = (task: TaskFacts) => !this.#tasks.has(task.id) && isWanted(task);
    const others = await this.#rows?.of(principal, { limit, isWanted: isElsewhere });
    if (!others?.length) return here;
    const all = [...here, ...others];
    return all.sort((a, b) => (a.createdAt < b.createdAt ? 1 : a.createdAt > b.createdAt ? -1 : 0)).slice(0, limit);
  }

  /** One that is here. Undefined for an id that is unknown, expired, or somebody else's. */
  find(id: string, principal: Principal): KeptTask | undefined {
    const task = this.#tasks.get(id);
    return task?.principal.id === principal.id ? task : undefined;
  }

  /** Newest first. */
  of(principal: Principal): readonly KeptTask[] {
    return [...(this.#byPrincipal.get(principal.id) ?? [])].reverse();
  }

  /** Cancels what is not over, and forgets everything but the rows. Safe to call twice. */
  close(): void {
    this.#isClosed = true;
    this.#sweeping?.cancel();
    for (const task of [...this.#tasks.values()]) {
      task.lapse("the gateway is shutting down");
      this.#remove(task);
    }
  }
}
