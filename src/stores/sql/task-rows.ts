import { type Selectable, sql } from "kysely";
import { faultPoint, type ListedTask, type TaskBounds, type TaskRow, type TaskRows } from "../../contract/index.ts";
import type { TaskTable } from "../migrations/index.ts";
import { refuseNul, type SqlEngine } from "./sql-engine.ts";

/** At once; where there are more, the next time takes them. */
const MOST_DROPPED = 10_000;

export class SqlTaskRows implements TaskRows {
  readonly #engine: SqlEngine;

  constructor(engine: SqlEngine) {
    this.#engine = engine;
  }

  async put(row: TaskRow): Promise<void> {
    refuseNul(row);
    const { id, ...rest } = columnsOf(row);
    faultPoint("records.task.writing");
    await this.#engine.run(() =>
      this.#database
        .insertInto("tasks")
        .values({ id, ...rest })
        .onConflict((conflict) => conflict.column("id").doUpdateSet(rest))
        .execute(),
    );
    faultPoint("records.task.written");
  }

  async update(row: TaskRow): Promise<boolean> {
    refuseNul(row);
    const { is_over, state, expires_at, result, result_size } = columnsOf(row);
    faultPoint("records.task.writing");
    const { numUpdatedRows } = await this.#engine.run(() =>
      this.#database
        .updateTable("tasks")
        .set({ is_over, state, expires_at, result, result_size })
        .where("id", "=", row.id)
        .where("member", "=", row.member)
        .where("is_over", "=", 0)
        .executeTakeFirstOrThrow(),
    );
    faultPoint("records.task.written");
    return numUpdatedRows > 0n;
  }

  async get(id: string): Promise<TaskRow | undefined> {
    const found = await this.#engine.run(() =>
      this.#database.selectFrom("tasks").selectAll().where("id", "=", id).executeTakeFirst(),
    );
    return found && rowOf(found);
  }

  async of(principal: string, limit: number, before?: number): Promise<readonly ListedTask[]> {
    const found = await this.#engine.run(() =>
      this.#database
        .selectFrom("tasks")
        .select(["sequence", "id", "principal", "member", "is_over", "state", "expires_at"])
        .where("principal", "=", principal)
        .where("expires_at", ">", this.#engine.now())
        .$if(before !== undefined, (query) => query.where("sequence", "<", before as number))
        .orderBy("sequence", "desc")
        .limit(limit)
        .execute(),
    );
    return found.map((row) => ({ ...rowOf({ ...row, result: "" }), sequence: row.sequence }));
  }

  async trim(principal: string, { rows, characters }: TaskBounds): Promise<void> {
    const excess = sql<number>`select sequence from (
      select sequence, row_number() over (order by sequence desc) as place,
        sum(result_size) over (order by sequence desc) as size
      from tasks where principal = ${principal} and is_over = 1
    ) as own where place > ${rows} or size > ${characters}`;
    await this.#engine.run(() =>
      this.#database.deleteFrom("tasks").where("sequence", "in", sql<number>`(${excess})`).execute(),
    );
  }

  async trimOpen(principal: string, rows: number, stateStart: string): Promise<void> {
    const excess = sql<number>`select sequence from tasks
      where principal = ${principal} and is_over = 0 and substr(state, 1, ${sql.lit(stateStart.length)}) = ${stateStart}
      order by sequence desc limit ${sql.lit(MOST_DROPPED)} offset ${sql.lit(rows)}`;
    await this.#engine.run(() =>
      this.#database.deleteFrom("tasks").where("sequence", "in", sql<number>`(${excess})`).execute(),
    );
  }

  async drop(id: string): Promise<void> {
    await this.#engine.run(() => this.#database.deleteFrom("tasks").where("id", "=", id).execute());
  }

  async expire(now: number): Promise<number> {
    const { numDeletedRows } = await this.#engine.run(() =>
      this.#database.deleteFrom("tasks").where("expires_at", "<=", now).executeTakeFirstOrThrow(),
    );
    return Number(numDeletedRows);
  }

  get #database() {
    return this.#engine.database;
  }
}

function columnsOf(row: TaskRow) {
  const { id, principal, member, state, result = "" } = row;
  const [is_over, expires_at] = [Number(row.isOver), Math.round(row.expiresAt)];
  return { id, principal, member, state, is_over, expires_at, result, result_size: result.length };
}

function rowOf(found: Omit<Selectable<TaskTable>, "sequence" | "result_size">): TaskRow {
  const { id, principal, member, state, result } = found;
  const row = { id, principal, member, isOver: found.is_over === 1, state, expiresAt: found.expires_at };
  return result === "" ? row : { ...row, result };
}
