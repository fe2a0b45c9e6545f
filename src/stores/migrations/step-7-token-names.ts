import { type Kysely, sql } from "kysely";
import type { Step } from "./step.ts";

/** Whose word the names in a token are. Of those that are there from before, who made them has to tell. */
export const tokenNamesStep: Step = {
  name: "token names",
  statements: (database: Kysely<unknown>) => [
    database.schema
      .alterTable("tokens")
      .addColumn("named_by", "text", (column) => column.notNull().defaultTo(sql.lit("")))
      .compile(),
  ],
};
