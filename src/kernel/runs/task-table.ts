import type { Clock, Principal, TaskRecord } from "../../contract/index.ts";

const MAX_TASKS = 10_000;

/** Tasks by id, until their time is over. A caller sees only its own. */
export class TaskTable {
  readonly #clock: Clock;
  readonly #tasks = new Map<string, TaskRecord>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#tasks.size;
  }

  add(task: TaskRecord): void {
    this.#sweep();
    this.#tasks.set(task.id, task);
  }

  get(id: string): TaskRecord | undefined {
    const task = this.#tasks.get(id);
    return task && task.expiresAt > this.#clock.now() ? task : undefined;
  }

  /** Newest first. */
  of(principal: Principal): TaskRecord[] {
    this.#sweep();
    return [...this.#tasks.values()].filter((task) => task.principal.id === principal.id).reverse();
  }

  #sweep(): void {
    const now = this.#clock.now();
    for (const [id, task] of this.#tasks) {
      if (task.expiresAt <= now || this.#tasks.size >= MAX_TASKS) this.#tasks.delete(id);
    }
  }
}
