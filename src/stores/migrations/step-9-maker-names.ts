import { type Kysely, sql } from "kysely";
import type { Step } from "./step.ts";

/** What the platform calls those who made a token, where they are of a tenant: what it denies to them it denies to the token. */
export const makerNamesStep: Step = {
  name: "maker names",
  statements: (database: Kysely<unknown>) => [
    database.schema
      .alterTable("tokens")
      .addColumn("maker_names", "text", (column) => column.notNull().defaultTo(sql.lit("[]")))
      .compile(),
  ],
};
