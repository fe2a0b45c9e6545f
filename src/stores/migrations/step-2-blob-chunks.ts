import { sql } from "kysely";
import type { Step } from "./step.ts";

/** The bytes of blobs, where there is no folder that every process sees. */
export const blobChunksStep: Step = {
  name: "blob chunks",
  statements(database, engine) {
    if (engine === "sqlite") return [];
    const table = database.schema
      .createTable("blob_chunks")
      .addColumn("blob", sql`text collate "C"`, (column) => column.notNull())
      .addColumn("number", "integer", (column) => column.notNull())
      .addColumn("content", "bytea", (column) => column.notNull())
      .addColumn("written_at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("blob_chunks_key", ["blob", "number"]);
    // Out of line and not compressed: what a blob holds mostly is compressed already.
    const storage = sql`alter table blob_chunks alter column content set storage external`;
    return [table.compile(), storage.compile(database)];
  },
};
