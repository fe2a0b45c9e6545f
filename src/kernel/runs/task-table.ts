/**
 * Tasks that providers run, by id, until their time is over. A caller sees only its own. With rows they outlive this
 * process, and any other finds them.
 */
import {
  type Clock,
  faultPoint,
  type Principal,
  type Records,
  type Target,
  type TaskRecord,
} from "../../contract/index.ts";

const MAX_TASKS = 10_000;

/** Where tasks outlive the process. `member`: who we are to the others now. */
export type DurableTasks = { readonly records: Pick<Records, "tasks">; readonly member: () => string };

/** What of a task stands in its row. `kind` tells it from tasks that the gateway itself keeps. */
type Relayed = { readonly kind: "relayed"; readonly target: Target; readonly handle?: string };

export class TaskTable {
  readonly #clock: Clock;
  readonly #durable: DurableTasks | undefined;
  readonly #tasks = new Map<string, TaskRecord>();
  /** From our clock to everybody's. */
  readonly #epoch: number;

  constructor(clock: Clock, durable?: DurableTasks) {
    this.#clock = clock;
    this.#durable = durable;
    this.#epoch = Date.now() - clock.now();
  }

  get size(): number {
    return this.#tasks.size;
  }

  /** A promise where it has to become durable first; it rejects with STATE_UNAVAILABLE. */
  add(task: TaskRecord): Promise<void> | undefined {
    this.#sweep();
    if (!this.#durable) return void this.#tasks.set(task.id, task);
    return this.#store(this.#durable, task);
  }

  async #store({ records, member }: DurableTasks, task: TaskRecord): Promise<void> {
    const { id, principal, target, handle, expiresAt } = task;
    const state: Relayed = { kind: "relayed", target, ...(handle !== undefined && { handle }) };
    faultPoint("tasks.relay.before");
    await records.tasks.put({
      id,
      principal: principal.id,
      member: member(),
      isOver: false,
      state: JSON.stringify(state),
      expiresAt: Math.ceil(this.#epoch + expiresAt),
    });
    faultPoint("tasks.relay.after");
    this.#tasks.set(id, task);
  }

  async get(id: string): Promise<TaskRecord | undefined> {
    const known = this.#tasks.get(id);
    if (known) return known.expiresAt > this.#clock.now() ? known : undefined;
    const row = await this.#durable?.records.tasks.get(id);
    return row && this.#read(row);
  }

  /** Newest first. */
  async of(principal: Principal): Promise<TaskRecord[]> {
    this.#sweep();
    const rows = await this.#durable?.records.tasks.of(principal.id);
    if (rows)
      return rows
        .map((row) => this.#read(row))
        .filter((task) => task !== undefined)
        .reverse();
    return [...this.#tasks.values()].filter((task) => task.principal.id === principal.id).reverse();
  }

  #read(row: { id: string; principal: string; state: string; expiresAt: number }): TaskRecord | undefined {
    const state = JSON.parse(row.state) as Relayed | { readonly kind: "kept" };
    const expiresAt = row.expiresAt - this.#epoch;
    if (state.kind !== "relayed" || expiresAt <= this.#clock.now()) return undefined;
    const { target, handle } = state;
    const principal = { id: row.principal };
    return { id: row.id, principal, target, expiresAt, ...(handle !== undefined && { handle }) };
  }

  #sweep(): void {
    const now = this.#clock.now();
    for (const [id, task] of this.#tasks) {
      if (task.expiresAt <= now || this.#tasks.size >= MAX_TASKS) this.#tasks.delete(id);
    }
  }
}
