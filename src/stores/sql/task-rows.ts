import type { Selectable } from "kysely";
import { faultPoint, type TaskRow, type TaskRows } from "../../contract/index.ts";
import type { TaskTable } from "../migrations/index.ts";
import { refuseNul, type SqlEngine } from "./sql-engine.ts";

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
    const { is_over, state, expires_at } = columnsOf(row);
    faultPoint("records.task.writing");
    const { numUpdatedRows } = await this.#engine.run(() =>
      this.#database
        .updateTable("tasks")
        .set({ is_over, state, expires_at })
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

  async of(principal: string): Promise<readonly TaskRow[]> {
    const found = await this.#engine.run(() =>
      this.#database
        .selectFrom("tasks")
        .selectAll()
        .where("principal", "=", principal)
        .where("expires_at", ">", this.#engine.now())
        .orderBy("sequence")
        .execute(),
    );
    return found.map(rowOf);
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
  const { id, principal, member, state } = row;
  return { id, principal, member, state, is_over: Number(row.isOver), expires_at: Math.round(row.expiresAt) };
}

function rowOf(found: Selectable<TaskTable>): TaskRow {
  const { id, principal, member, state } = found;
  return { id, principal, member, isOver: found.is_over === 1, state, expiresAt: found.expires_at };
}
