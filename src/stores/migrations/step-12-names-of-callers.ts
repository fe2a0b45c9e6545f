import { type Kysely, sql } from "kysely";
import type { Step } from "./step.ts";

/** By what name a call that waits was called, beside the tool's own. In approvals from before, `tool` is what the caller used. */
export const namesOfCallersStep: Step = {
  name: "names of callers",
  statements: (database: Kysely<unknown>) => [
    database.schema
      .alterTable("approvals")
      .addColumn("called_as", "text", (column) => column.notNull().defaultTo(sql.lit("")))
      .compile(),
  ],
};
