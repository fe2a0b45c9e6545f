import { type Kysely, sql } from "kysely";
import type { Step } from "./step.ts";

/** What a tool said of itself when somebody was asked. Approvals that are open from before are of no definition: they are asked for anew. */
export const approvedDefinitionsStep: Step = {
  name: "approved definitions",
  statements: (database: Kysely<unknown>) => [
    database.schema
      .alterTable("approvals")
      .addColumn("definition", "text", (column) => column.notNull().defaultTo(sql.lit("")))
      .compile(),
  ],
};
