/** Tasks as they outlive the process that keeps them: one row each, which any process can read. */
import {
  type Ask,
  faultPoint,
  GatewayError,
  type Member,
  type Membership,
  type Principal,
  type Records,
  type Target,
  type TaskBounds,
  type TaskRow,
} from "../../contract/index.ts";
import { readEnd, writeEnd } from "./call-end.ts";
import { saysFailed, type TaskEnd, type TaskFacts, type TaskOutcome, type TaskStatus } from "./task-facts.ts";

export type TaskStore = {
  readonly records: Pick<Records, "tasks" | "isUp">;
  readonly members: Pick<Membership, "find">;
  /** Who we are to the other processes now. */
  readonly member: () => string;
  /** The process that ran a task is gone, and its caller is about to hear of it. Several processes may find out at once. */
  readonly onLost?: (task: TaskFacts) => void;
};

/** A task that is not here. elsewhere: the process that runs it is alive. */
export type FoundTask =
  | { readonly type: "over"; readonly task: TaskFacts }
  | { readonly type: "elsewhere"; readonly task: TaskFacts; readonly home: Member };

/** `kind` tells it from tasks that providers run. */
type RowState = {
  readonly kind: "kept";
  readonly target?: Target;
  readonly args?: string | undefined;
  readonly status: TaskStatus;
  readonly message?: string;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  readonly ttlMs: number;
  readonly pollMs: number;
  readonly isError?: true;
};

/** So many rows are read at once for a list. */
const PAGE = 100;
/** What is kept of one caller's tasks that are over. Then the oldest go, whatever time they were given. */
const MOST_OVER: TaskBounds = { rows: 1000, characters: 64 * 1024 * 1024 };

/** Which tasks are wanted. */
export type TaskChoice = { readonly limit: number; readonly isWanted: (task: TaskFacts) => boolean };

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
    if (isWritten) {
      this.#store.records.tasks.trim(task.principal.id, MOST_OVER).catch(() => undefined);
      return undefined;
    }
    const row = await this.#store.records.tasks.get(task.id);
    return row?.isOver ? read(row) : undefined;
  }

  async find(id: string, principal: Principal): Promise<FoundTask | undefined> {
    const row = await this.#store.records.tasks.get(id);
    if (!row || row.principal !== principal.id || row.expiresAt <= this.#now()) return undefined;
    return this.#found(row);
  }

  /** Newest first, without what came of them. */
  async of(principal: Principal, { limit, isWanted }: TaskChoice): Promise<readonly TaskFacts[]> {
    const wanted: TaskFacts[] = [];
    for (let before: number | undefined; wanted.length < limit; ) {
      const rows = await this.#store.records.tasks.of(principal.id, PAGE, before);
      const meant = rows.filter((row) => {
        const task = read(row);
        return task !== undefined && isWanted(task);
      });
      const found = await Promise.all(meant.map((row) => this.#found(row)));
      wanted.push(...found.flatMap((one) => (one ? [one.task] : [])));
      before = rows.at(-1)?.sequence;
      if (rows.length < PAGE) break;
    }
    return wanted.slice(0, limit);
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
    // First: once it is written, it is nobody's news any more, and this process may die at any moment.
    this.#store.onLost?.(over);
    faultPoint("tasks.lost.before");
    const isWritten = await this.#store.records.tasks.update(rowOf(over, row.member, row.expiresAt));
    faultPoint("tasks.lost.after");
    if (isWritten) return { type: "over", task: over };
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
function factsOf({ id, principal, target, args, createdAt, ttlMs, pollMs }: TaskFacts) {
  return { id, principal, target, args, createdAt, ttlMs, pollMs, pending: NO_ASKS, isError: false };
}

function rowOf(task: TaskFacts, member: string, expiresAt: number): TaskRow {
  const { id, principal, target, args, status, isOver, message, createdAt, lastUpdatedAt, ttlMs, pollMs, end } = task;
  const state: RowState = {
    kind: "kept",
    ...(target && { target }),
    args,
    // Whether it waits for input is known only where it runs.
    status: isOver ? status : "working",
    ...(message !== undefined && { message }),
    createdAt,
    lastUpdatedAt,
    ttlMs,
    pollMs,
    ...(saysFailed(end) && { isError: true }),
  };
  const row = { id, principal: principal.id, member, isOver, state: JSON.stringify(state) };
  return { ...row, ...(end && { result: writeEnd(end) }), expiresAt: Math.ceil(expiresAt) };
}

/** Undefined: the row is of a task that a provider runs. */
function read(row: TaskRow): TaskFacts | undefined {
  const state = JSON.parse(row.state) as RowState | { readonly kind: "relayed" };
  if (state.kind !== "kept") return undefined;
  const { target, args, status, message, createdAt, lastUpdatedAt, ttlMs, pollMs, isError = false } = state;
  return {
    id: row.id,
    principal: { id: row.principal },
    target,
    args,
    status,
    isOver: row.isOver,
    message,
    createdAt,
    lastUpdatedAt,
    ttlMs,
    pollMs,
    pending: NO_ASKS,
    isError,
    end: row.result === undefined ? undefined : (readEnd(row.result) as TaskEnd),
  };
}
