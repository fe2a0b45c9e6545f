import { type Kysely, sql } from "kysely";
import type { Step } from "./step.ts";

/** Who made a token, and who made theirs. Of those that are there from before nobody is known to have. */
export const tokenMakersStep: Step = {
  name: "token makers",
  statements: (database: Kysely<unknown>) => [
    database.schema
      .alterTable("tokens")
      .addColumn("makers", "text", (column) => column.notNull().defaultTo(sql.lit("[]")))
      .compile(),
  ],
};
