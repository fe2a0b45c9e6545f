import type { SchemaModule } from "kysely";
import { required, sequence, textKey } from "./columns.ts";
import type { EngineName, Step } from "./step.ts";

export const recordsStep: Step = {
  name: "records",
  statements: (database, engine) =>
    [...tasks(database.schema, engine), ...deliveries(database.schema, engine), ...blobs(database.schema, engine)].map(
      (statement) => statement.compile(),
    ),
};

function tasks(schema: SchemaModule, engine: EngineName) {
  return [
    schema
      .createTable("tasks")
      .addColumn("sequence", engine === "sqlite" ? "integer" : "bigint", sequence(engine))
      .addColumn("id", textKey(engine), (column) => column.notNull().unique())
      .addColumn("principal", "text", required)
      .addColumn("member", "text", required)
      .addColumn("is_over", "integer", required)
      .addColumn("state", "text", required)
      .addColumn("expires_at", "bigint", required),
    schema.createIndex("tasks_of_principal").on("tasks").columns(["principal", "sequence"]),
    schema.createIndex("tasks_by_expiry").on("tasks").column("expires_at"),
  ];
}

function deliveries(schema: SchemaModule, engine: EngineName) {
  return [
    schema
      .createTable("deliveries")
      .addColumn("sequence", engine === "sqlite" ? "integer" : "bigint", sequence(engine))
      .addColumn("id", textKey(engine), (column) => column.notNull().unique())
      .addColumn("channel", "text", required)
      .addColumn("target", "text", required)
      .addColumn("body", "text", required)
      .addColumn("order_key", "text", required)
      .addColumn("attempts", "integer", required)
      .addColumn("due_at", "bigint", required)
      .addColumn("expires_at", "bigint", required)
      .addColumn("last_error", "text", required)
      .addColumn("leased_until", "bigint", required)
      .addColumn("failed_at", "bigint", required),
    schema.createIndex("deliveries_due").on("deliveries").columns(["failed_at", "due_at", "sequence"]),
    schema.createIndex("deliveries_in_order").on("deliveries").columns(["order_key", "failed_at", "sequence"]),
  ];
}

function blobs(schema: SchemaModule, engine: EngineName) {
  return [
    schema
      .createTable("blobs")
      .addColumn("id", textKey(engine), (column) => column.primaryKey().notNull())
      .addColumn("bytes", "bigint", required)
      .addColumn("digest", "text", required)
      .addColumn("type", "text", required)
      .addColumn("created_at", "bigint", required),
  ];
}
