/**
 * Tasks that providers run, by id, until their time is over. A caller sees only its own. With rows they outlive this
 * process, and any other finds them.
 */
import {
  type Clock,
  faultPoint,
  type MadeCall,
  type Principal,
  type Records,
  type TaskRecord,
} from "../../contract/index.ts";

const MAX_TASKS = 10_000;
/** Of one caller: the oldest are forgotten before their time. In rows there may be a few more for a while. */
const MAX_PER_CALLER = 1000;
const ADDED_BETWEEN_TRIMS = 64;
/** So many rows are read at once, and so many tasks of one caller are found. */
const PAGE = 100;
const MAX_FOUND = 1000;

/** Where tasks outlive the process. `member`: who we are to the others now. */
export type DurableTasks = { readonly records: Pick<Records, "tasks">; readonly member: () => string };

/** What of a task stands in its row. `kind` tells it from tasks that the gateway itself keeps. */
type Relayed = MadeCall & { readonly kind: "relayed"; readonly handle?: string };

const RELAYED_START = '{"kind":"relayed"';

export class TaskTable {
  readonly #clock: Clock;
  readonly #durable: DurableTasks | undefined;
  readonly #tasks = new Map<string, TaskRecord>();
  /** From our clock to everybody's. */
  readonly #epoch: number;
  #added = 0;

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
    this.#makeRoom(task.principal.id);
    if (!this.#durable) return void this.#tasks.set(task.id, task);
    return this.#store(this.#durable, task);
  }

  async #store({ records, member }: DurableTasks, task: TaskRecord): Promise<void> {
    const { id, principal, target, args, handle, expiresAt } = task;
    const state: Relayed = { kind: "relayed", target, args, ...(handle !== undefined && { handle }) };
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
    // What is too much now goes with the next one: nobody has to wait for it.
    if (this.#added++ % ADDED_BETWEEN_TRIMS === 0)
      records.tasks.trimOpen(principal.id, MAX_PER_CALLER, RELAYED_START).catch(() => undefined);
  }

  #makeRoom(principal: string): void {
    if (this.#tasks.size < MAX_PER_CALLER) return;
    const own = [...this.#tasks.values()].filter((task) => task.principal.id === principal);
    for (const { id } of own.slice(0, Math.max(0, own.length - MAX_PER_CALLER + 1))) this.#tasks.delete(id);
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
    if (this.#durable) return await this.#stored(this.#durable, principal);
    return [...this.#tasks.values()].filter((task) => task.principal.id === principal.id).reverse();
  }

  async #stored({ records }: DurableTasks, { id }: Principal): Promise<TaskRecord[]> {
    const found: TaskRecord[] = [];
    for (let before: number | undefined; found.length < MAX_FOUND; ) {
      const rows = await records.tasks.of(id, PAGE, before);
      found.push(...rows.flatMap((row) => this.#read(row) ?? []));
      before = rows.at(-1)?.sequence;
      if (rows.length < PAGE) break;
    }
    return found;
  }

  #read(row: { id: string; principal: string; state: string; expiresAt: number }): TaskRecord | undefined {
    const state = JSON.parse(row.state) as Relayed | { readonly kind: "kept" };
    const expiresAt = row.expiresAt - this.#epoch;
    if (state.kind !== "relayed" || expiresAt <= this.#clock.now()) return undefined;
    const { target, args, handle } = state;
    const principal = { id: row.principal };
    return { id: row.id, principal, target, args, expiresAt, ...(handle !== undefined && { handle }) };
  }

  #sweep(): void {
    const now = this.#clock.now();
    for (const [id, task] of this.#tasks) {
      if (task.expiresAt <= now || this.#tasks.size >= MAX_TASKS) this.#tasks.delete(id);
    }
  }
}
