import { type Kysely, sql } from "kysely";
import type { Step } from "./step.ts";

/** What came of a task, apart from what lists tell of it: behind everything else, so that whoever lists does not read it. */
export const taskResultsStep: Step = {
  name: "task results",
  statements: (database: Kysely<unknown>) => [
    database.schema
      .alterTable("tasks")
      .addColumn("result_size", "integer", (column) => column.notNull().defaultTo(sql.lit(0)))
      .compile(),
    database.schema
      .alterTable("tasks")
      .addColumn("result", "text", (column) => column.notNull().defaultTo(sql.lit("")))
      .compile(),
  ],
};
