import { type Selectable, sql } from "kysely";
import type { Block, BlockChange, BlockRows, BlockSubject, BlocksChanged } from "../../contract/index.ts";
import type { BlockTable } from "../migrations/index.ts";
import { type ChangeStatement, statement } from "./change-statement.ts";
import { refuseNul, type SqlEngine } from "./sql-engine.ts";

/** So many changes are kept: who has missed more reads all blocks. */
const KEPT_CHANGES = 1_000;

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

  async changes(since: number): Promise<BlocksChanged | undefined> {
    const version = await this.version();
    if (version < since || version - since > KEPT_CHANGES) return undefined;
    const found = await this.#engine.run(() =>
      this.#engine.database
        .selectFrom("block_changes as change")
        .leftJoin("blocks", "blocks.id", "change.id")
        .selectAll("blocks")
        .select(["change.version as version", "change.id as changed"])
        .where("change.version", ">", since)
        .orderBy("change.version")
        .execute(),
    );
    const last = found.at(-1)?.version ?? since;
    // One for each version, or something is missing. Those that were written since the version was read are welcome.
    if (last < version || found.length !== last - since) return undefined;
    const blocks = new Map<string, Block>();
    for (const { version: _version, changed, id, ...rest } of found) {
      if (id !== null) blocks.set(changed, blockOf({ id, ...rest } as Selectable<BlockTable>));
    }
    const gone = found.map(({ changed }) => changed).filter((id) => !blocks.has(id));
    return { version: last, blocks: [...blocks.values()], gone };
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
  const version = versionStatements(database, change.type === "put" ? change.block.id : change.id);
  if (change.type === "remove") {
    return [...version, statement(database.deleteFrom("blocks").where("id", "=", change.id), true)];
  }
  refuseNul(change.block);
  const { id, ...rest } = columnsOf(change.block);
  const put = database
    .insertInto("blocks")
    .values({ id, ...rest })
    .onConflict((conflict) => conflict.column("id").doUpdateSet(rest));
  return [...version, statement(put)];
}

function versionStatements(database: SqlEngine["database"], id: string): readonly ChangeStatement[] {
  const next = database.updateTable("block_version").set({ version: sql<number>`version + 1` });
  const kept = database
    .insertInto("block_changes")
    .columns(["version", "id"])
    .expression(database.selectFrom("block_version").select(["version", sql<string>`cast(${id} as text)`.as("id")]));
  const old = database
    .deleteFrom("block_changes")
    .where("version", "<=", (from) =>
      from.selectFrom("block_version").select(sql<number>`version - ${sql.lit(KEPT_CHANGES)}`.as("oldest")),
    );
  return [statement(next, true), statement(kept), statement(old)];
}

function columnsOf({ createdAt, createdBy, until, ...same }: Block): BlockTable {
  return { ...same, created_at: Math.round(createdAt), created_by: createdBy, until: Math.round(until) };
}

function blockOf({ created_at, created_by, subject, ...same }: Selectable<BlockTable>): Block {
  return { ...same, subject: subject as BlockSubject, createdAt: created_at, createdBy: created_by };
}
