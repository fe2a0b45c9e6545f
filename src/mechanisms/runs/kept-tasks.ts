/** Every task that the gateway keeps for its callers. Bounded in number, in bytes of what is kept, and in time. */
import type { Ask, Clock, Meter, Principal, Reader, Run, Timers } from "../../contract/index.ts";
import { KeptTask, type TaskOwner } from "./kept-task.ts";
import type { TaskTerms } from "./task-terms.ts";

const MAX_TASKS = 10_000;
const MAX_PER_PRINCIPAL = 1000;
const MAX_BYTES = 64 * 1024 * 1024;

export type KeptTasksOptions = {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly meter: Meter;
  readonly maxTasks?: number;
  readonly maxPerPrincipal?: number;
  /** Of the ends of tasks that are over. */
  readonly maxBytes?: number;
};

/** Where the former reader of a run stood, and the questions it had taken and not settled. */
export type Handover = { readonly cursor: number; readonly asks: Iterable<Ask> };

export class KeptTasks implements TaskOwner {
  readonly timers: Timers;
  readonly #options: KeptTasksOptions;
  readonly #tasks = new Map<string, KeptTask>();
  readonly #byPrincipal = new Map<string, Set<KeptTask>>();
  /** Those that are over, in the order in which they ended. */
  readonly #over = new Set<KeptTask>();
  #bytes = 0;
  /** From our clock to everybody's. */
  readonly #epoch: number;

  constructor(options: KeptTasksOptions) {
    this.#options = options;
    this.timers = options.timers;
    this.#epoch = Date.now() - options.clock.now();
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

  /** Makes a task of a run that is started for it. Undefined: there is no room, and nothing was started. */
  start(principal: Principal, startRun: (reader: Reader) => Run, terms: TaskTerms): KeptTask | undefined {
    if (!this.#hasRoom(principal)) return undefined;
    const task = new KeptTask(this, principal, terms);
    this.#begin(task, startRun(task), []);
    return task;
  }

  #begin(task: KeptTask, run: Run, asks: Iterable<Ask>): void {
    this.#tasks.set(run.id, task);
    const own = this.#byPrincipal.get(task.principal.id) ?? new Set();
    this.#byPrincipal.set(task.principal.id, own.add(task));
    task.begin(run, asks);
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
    task.cancel("the time of the task is over");
    this.#remove(task);
  }

  #remove(task: KeptTask): void {
    if (this.#over.delete(task)) this.#bytes -= task.bytes;
    this.#tasks.delete(task.id);
    const own = this.#byPrincipal.get(task.principal.id);
    own?.delete(task);
    if (own?.size === 0) this.#byPrincipal.delete(task.principal.id);
    task.forget();
  }

  /** Undefined for an id that is unknown, expired, or somebody else's. */
  find(id: string, principal: Principal): KeptTask | undefined {
    const task = this.#tasks.get(id);
    return task?.principal.id === principal.id ? task : undefined;
  }

  /** Newest first. */
  of(principal: Principal): readonly KeptTask[] {
    return [...(this.#byPrincipal.get(principal.id) ?? [])].reverse();
  }

  /** Cancels what is not over, and forgets everything. Safe to call twice. */
  close(): void {
    for (const task of [...this.#tasks.values()]) {
      task.cancel("the gateway is shutting down");
      this.#remove(task);
    }
  }
}
