import { sql } from "kysely";
import { required, sequence, textKey } from "../columns.ts";
import type { Step } from "../step.ts";

/**
 * Events are kept as the text of their block: one row and one hash for many. What they are found by is a table of numbers, each
 * the hash of a word such as an actor's id, once for each block that has it. It grows at its end only, by runs of some
 * thousand events that are sorted by term: a row for each event in the midst of a large tree would cost more than the event.
 */
export const auditTables: Step["statements"] = (database, engine) => {
  const { schema } = database;
  const blocks = schema
    .createTable("audit_blocks")
    .addColumn("sequence", engine === "sqlite" ? "integer" : "bigint", sequence(engine))
    .addColumn("writer", textKey(engine), required)
    .addColumn("number", "bigint", required)
    .addColumn("count", "integer", required)
    .addColumn("spooled", "bigint", required)
    .addColumn("at", "bigint", required)
    .addColumn("until", "bigint", required)
    .addColumn("previous", "text", required)
    .addColumn("hash", "text", required)
    .addColumn("signature", "text", required)
    .addColumn("marks", "text", required)
    .addColumn("terms", engine === "sqlite" ? "text" : sql`bigint[]`, required)
    .addColumn("lines", "text", required)
    .addUniqueConstraint("audit_blocks_in_chain", ["writer", "number"]);
  const byTime = schema.createIndex("audit_blocks_by_time").on("audit_blocks").columns(["at", "sequence"]);
  const heads = schema
    .createTable("audit_heads")
    .addColumn("writer", textKey(engine), (column) => column.primaryKey().notNull())
    .addColumn("number", "bigint", required)
    .addColumn("hash", "text", required)
    .addColumn("spooled", "bigint", required)
    .addColumn("covered", "integer", required);
  const uncovered = schema.createIndex("audit_heads_uncovered").on("audit_heads").column("covered");
  const runs = schema
    .createTable("audit_runs")
    .addColumn("number", "bigint", (column) => column.primaryKey().notNull())
    .addColumn("last", "bigint", required)
    .addColumn("at", "bigint", required)
    .addColumn("until", "bigint", required);
  const terms = schema
    .createTable("audit_terms")
    .addColumn("run", "bigint", required)
    .addColumn("term", "bigint", required)
    .addColumn("block", "bigint", required)
    .addPrimaryKeyConstraint("audit_terms_key", ["run", "term", "block"]);
  const checkpoints = schema
    .createTable("audit_checkpoints")
    .addColumn("number", "bigint", (column) => column.primaryKey().notNull())
    .addColumn("at", "bigint", required)
    .addColumn("text", "text", required)
    .addColumn("signature", "text", required);
  const compact = engine === "sqlite" ? terms.modifyEnd(sql`without rowid`) : terms;
  return [blocks, byTime, heads, uncovered, runs, compact, checkpoints].map((statement) => statement.compile());
};
