/** Tasks as they outlive the process that keeps them: one row each, which any process can read. */
import {
  type Ask,
  faultPoint,
  GatewayError,
  type Member,
  type Membership,
  type Principal,
  type Records,
  type TaskRow,
} from "../../contract/index.ts";
import { readEnd, writeEnd } from "./call-end.ts";
import type { TaskEnd, TaskFacts, TaskOutcome, TaskStatus } from "./task-facts.ts";

export type TaskStore = {
  readonly records: Pick<Records, "tasks" | "isUp">;
  readonly members: Pick<Membership, "find">;
  /** Who we are to the other processes now. */
  readonly member: () => string;
  /** The process that ran a task is gone: it was found out here, and nowhere before. */
  readonly onLost?: (task: TaskFacts) => void;
};

/** A task that is not here. elsewhere: the process that runs it is alive. */
export type FoundTask =
  | { readonly type: "over"; readonly task: TaskFacts }
  | { readonly type: "elsewhere"; readonly task: TaskFacts; readonly home: Member };

/** `kind` tells it from tasks that providers run. */
type RowState = {
  readonly kind: "kept";
  readonly status: TaskStatus;
  readonly message?: string;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  readonly ttlMs: number;
  readonly pollMs: number;
  readonly end?: string;
};

export class TaskRowBook {
  readonly #store: TaskStore;
  readonly #now: () => number;
  /** As whom we wrote each of ours first: a process that had to join anew has another id by now. */
  readonly #writers = new WeakMap<TaskFacts, string>();

  constructor(store: TaskStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  get isUp(): boolean {
    return this.#store.records.isUp;
  }

  async add(task: TaskFacts, expiresAt: number): Promise<void> {
    const member = this.#store.member();
    this.#writers.set(task, member);
    faultPoint("tasks.new.before");
    await this.#store.records.tasks.put(rowOf(task, member, expiresAt));
    faultPoint("tasks.new.after");
  }

  /** The task goes on, with other facts. */
  async write(task: TaskFacts, expiresAt: number): Promise<void> {
    await this.#store.records.tasks.update(rowOf(task, this.#writerOf(task), expiresAt));
  }

  #writerOf(task: TaskFacts): string {
    return this.#writers.get(task) ?? this.#store.member();
  }

  /** The task is over. Gives what others had decided before, where they had. */
  async close(task: TaskFacts, outcome: TaskOutcome, expiresAt: number): Promise<TaskOutcome | undefined> {
    const over = { ...factsOf(task), ...outcome, isOver: true, lastUpdatedAt: this.#time() };
    faultPoint("tasks.end.before");
    const isWritten = await this.#store.records.tasks.update(rowOf(over, this.#writerOf(task), expiresAt));
    faultPoint("tasks.end.after");
    if (isWritten) return undefined;
    const row = await this.#store.records.tasks.get(task.id);
    return row?.isOver ? read(row) : undefined;
  }

  async find(id: string, principal: Principal): Promise<FoundTask | undefined> {
    const row = await this.#store.records.tasks.get(id);
    if (!row || row.principal !== principal.id || row.expiresAt <= this.#now()) return undefined;
    return this.#found(row);
  }

  /** Newest first. */
  async of(principal: Principal, isHere: (id: string) => boolean): Promise<readonly TaskFacts[]> {
    const rows = await this.#store.records.tasks.of(principal.id);
    const others = rows.filter(({ id }) => !isHere(id)).reverse();
    const found = await Promise.all(others.map((row) => this.#found(row)));
    return found.filter((one) => one !== undefined).map(({ task }) => task);
  }

  async #found(row: TaskRow): Promise<FoundTask | undefined> {
    const task = read(row);
    if (!task) return undefined;
    if (row.isOver) return { type: "over", task };
    const isOurs = row.member === this.#store.member();
    const home = isOurs ? undefined : await this.#store.members.find(row.member);
    return home ? { type: "elsewhere", task, home } : await this.#lose(row, task);
  }

  /** The process that ran it is gone, and nobody knows what has become of it. That is said once, and stays so. */
  async #lose(row: TaskRow, task: TaskFacts): Promise<FoundTask | undefined> {
    const error = new GatewayError("OUTCOME_UNKNOWN", { message: "The process that ran this task is gone." });
    const end = { type: "error", error } as const;
    const lost = { ...task, status: "failed", isOver: true, message: error.message, end } as const;
    const over: TaskFacts = { ...lost, lastUpdatedAt: this.#time() };
    faultPoint("tasks.lost.before");
    const isWritten = await this.#store.records.tasks.update(rowOf(over, row.member, row.expiresAt));
    faultPoint("tasks.lost.after");
    if (isWritten) {
      this.#store.onLost?.(over);
      return { type: "over", task: over };
    }
    const present = await this.#store.records.tasks.get(row.id);
    const decided = present?.isOver ? read(present) : undefined;
    return decided && { type: "over", task: decided };
  }

  async drop(id: string): Promise<void> {
    await this.#store.records.tasks.drop(id);
  }

  async expire(): Promise<void> {
    await this.#store.records.tasks.expire(this.#now());
  }

  #time(): string {
    return new Date(this.#now()).toISOString();
  }
}

const NO_ASKS: readonly Ask[] = [];

/** A copy: what is said of a task that is here changes. */
function factsOf({ id, principal, createdAt, ttlMs, pollMs }: TaskFacts) {
  return { id, principal, createdAt, ttlMs, pollMs, pending: NO_ASKS };
}

function rowOf(task: TaskFacts, member: string, expiresAt: number): TaskRow {
  const { id, principal, status, isOver, message, createdAt, lastUpdatedAt, ttlMs, pollMs, end } = task;
  const state: RowState = {
    kind: "kept",
    // Whether it waits for input is known only where it runs.
    status: isOver ? status : "working",
    ...(message !== undefined && { message }),
    createdAt,
    lastUpdatedAt,
    ttlMs,
    pollMs,
    ...(end && { end: writeEnd(end) }),
  };
  return { id, principal: principal.id, member, isOver, state: JSON.stringify(state), expiresAt: Math.ceil(expiresAt) };
}

/** Undefined: the row is of a task that a provider runs. */
function read(row: TaskRow): TaskFacts | undefined {
  const state = JSON.parse(row.state) as RowState | { readonly kind: "relayed" };
  if (state.kind !== "kept") return undefined;
  const { status, message, createdAt, lastUpdatedAt, ttlMs, pollMs, end } = state;
  return {
    id: row.id,
    principal: { id: row.principal },
    status,
    isOver: row.isOver,
    message,
    createdAt,
    lastUpdatedAt,
    ttlMs,
    pollMs,
    pending: NO_ASKS,
    end: end === undefined ? undefined : (readEnd(end) as TaskEnd),
  };
}
