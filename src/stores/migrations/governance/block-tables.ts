import type { Kysely } from "kysely";
import { required, textKey } from "../columns.ts";
import type { Step } from "../step.ts";
import type { BlockVersionTable } from "../tables.ts";

export const blockTables: Step["statements"] = (database, engine) => {
  const { schema } = database;
  const blocks = schema
    .createTable("blocks")
    .addColumn("id", textKey(engine), (column) => column.primaryKey().notNull())
    .addColumn("subject", "text", required)
    .addColumn("key", "text", required)
    .addColumn("tenant", "text", required)
    .addColumn("server", "text", required)
    .addColumn("protocol", "text", required)
    .addColumn("primitive", "text", required)
    .addColumn("reason", "text", required)
    .addColumn("created_at", "bigint", required)
    .addColumn("created_by", "text", required)
    .addColumn("until", "bigint", required);
  const byEnd = schema.createIndex("blocks_until").on("blocks").column("until");
  const version = schema.createTable("block_version").addColumn("version", "bigint", required);
  const first = (database as Kysely<{ block_version: BlockVersionTable }>)
    .insertInto("block_version")
    .values({ version: 0 });
  return [blocks.compile(), byEnd.compile(), version.compile(), first.compile()];
};
