import type { Kysely } from "kysely";
import { required, textKey } from "./columns.ts";
import type { Step } from "./step.ts";

/** Which block each of the last versions is about. A process of an older program writes none: then all blocks are read. */
export const blockChangesStep: Step = {
  name: "block changes",
  statements: (database: Kysely<unknown>, engine) => [
    database.schema
      .createTable("block_changes")
      .addColumn("version", "bigint", (column) => column.primaryKey().notNull())
      .addColumn("id", textKey(engine), required)
      .compile(),
  ],
};
