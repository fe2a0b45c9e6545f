import { type Kysely, sql } from "kysely";
import type { Step } from "./step.ts";

/** Whose word a yes is, so that it ends with them. Of those that are there from before nobody is known to have given it. */
export const approvalDecidersStep: Step = {
  name: "approval deciders",
  statements: (database: Kysely<unknown>) => [
    database.schema
      .alterTable("approvals")
      .addColumn("decider", "text", (column) => column.notNull().defaultTo(sql.lit("")))
      .compile(),
  ],
};
