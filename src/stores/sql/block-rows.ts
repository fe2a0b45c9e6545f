import { type Selectable, sql } from "kysely";
import type { Block, BlockChange, BlockRows, BlockSubject } from "../../contract/index.ts";
import type { BlockTable } from "../migrations/index.ts";
import { type ChangeStatement, statement } from "./change-statement.ts";
import { refuseNul, type SqlEngine } from "./sql-engine.ts";

export class SqlBlockRows implements BlockRows {
  readonly #engine: SqlEngine;

  constructor(engine: SqlEngine) {
    this.#engine = engine;
  }

  /** The version first: blocks that are newer than it only make the next look come too early. */
  async load(now: number, limit: number): Promise<{ version: number; blocks: Block[] }> {
    const version = await this.version();
    const found = await this.#engine.run(() =>
      this.#engine.database
        .selectFrom("blocks")
        .selectAll()
        .where("until", ">", Math.round(now))
        .orderBy("created_at")
        .orderBy("id")
        .limit(limit)
        .execute(),
    );
    return { version, blocks: found.map(blockOf) };
  }

  async version(): Promise<number> {
    const found = await this.#engine.run(() =>
      this.#engine.database.selectFrom("block_version").select("version").executeTakeFirst(),
    );
    return found?.version ?? 0;
  }

  async expire(now: number): Promise<number> {
    const gone = await this.#engine.run(() =>
      this.#engine.database.deleteFrom("blocks").where("until", "<=", Math.round(now)).executeTakeFirst(),
    );
    return Number(gone.numDeletedRows);
  }
}

/** A new version, and the block. */
export function blockStatements({ database }: SqlEngine, change: BlockChange): readonly ChangeStatement[] {
  const version = statement(database.updateTable("block_version").set({ version: sql<number>`version + 1` }), true);
  if (change.type === "remove") {
    return [version, statement(database.deleteFrom("blocks").where("id", "=", change.id), true)];
  }
  refuseNul(change.block);
  const { id, ...rest } = columnsOf(change.block);
  const put = database
    .insertInto("blocks")
    .values({ id, ...rest })
    .onConflict((conflict) => conflict.column("id").doUpdateSet(rest));
  return [version, statement(put)];
}

function columnsOf({ createdAt, createdBy, until, ...same }: Block): BlockTable {
  return { ...same, created_at: Math.round(createdAt), created_by: createdBy, until: Math.round(until) };
}

function blockOf({ created_at, created_by, subject, ...same }: Selectable<BlockTable>): Block {
  return { ...same, subject: subject as BlockSubject, createdAt: created_at, createdBy: created_by };
}
