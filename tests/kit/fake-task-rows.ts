import { GatewayError, type ListedTask, type TaskRow, type TaskRows } from "../../src/contract/index.ts";

/** Rows of tasks as a test wants them: readable, and away when it says so. */
export class FakeTaskRows implements TaskRows {
  readonly rows = new Map<string, TaskRow>();
  /** What rejects from now on. */
  readonly refuses = new Set<"put" | "update" | "get">();
  isUp = true;

  #check(what: "put" | "update" | "get"): void {
    if (this.refuses.has(what)) throw new GatewayError("STATE_UNAVAILABLE");
  }

  async put(row: TaskRow): Promise<void> {
    this.#check("put");
    this.rows.set(row.id, row);
  }

  async update(row: TaskRow): Promise<boolean> {
    this.#check("update");
    const present = this.rows.get(row.id);
    if (!present || present.isOver || present.member !== row.member) return false;
    this.rows.set(row.id, row);
    return true;
  }

  async get(id: string): Promise<TaskRow | undefined> {
    this.#check("get");
    return this.rows.get(id);
  }

  async of(principal: string, limit: number, before = Number.POSITIVE_INFINITY): Promise<readonly ListedTask[]> {
    this.#check("get");
    const all = [...this.rows.values()].map(({ result, ...row }, sequence) => ({ ...row, sequence }));
    const own = all.filter((row) => row.principal === principal && row.sequence < before);
    return own.reverse().slice(0, limit);
  }

  async trim(): Promise<void> {}

  async trimOpen(principal: string, rows: number, stateStart: string): Promise<void> {
    const own = [...this.rows.values()].filter((row) => row.principal === principal && !row.isOver);
    const meant = own.filter(({ state }) => state.startsWith(stateStart)).reverse();
    for (const { id } of meant.slice(rows)) this.rows.delete(id);
  }

  async drop(id: string): Promise<void> {
    this.rows.delete(id);
  }

  async expire(now: number): Promise<number> {
    const gone = [...this.rows.values()].filter((row) => row.expiresAt <= now);
    for (const { id } of gone) this.rows.delete(id);
    return gone.length;
  }
}
