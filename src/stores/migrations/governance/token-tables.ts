import { required, textKey } from "../columns.ts";
import type { Step } from "../step.ts";

export const tokenTables: Step["statements"] = ({ schema }, engine) => {
  const tokens = schema
    .createTable("tokens")
    .addColumn("hash", "text", (column) => column.primaryKey().notNull())
    .addColumn("id", textKey(engine), required)
    .addColumn("tenant", "text", required)
    .addColumn("user_name", "text", required)
    .addColumn("client", "text", required)
    .addColumn("group_names", "text", required)
    .addColumn("scopes", "text", required)
    .addColumn("role", "text", required)
    .addColumn("created_at", "bigint", required)
    .addColumn("created_by", "text", required)
    .addColumn("expires_at", "bigint", required)
    .addColumn("last_used_at", "bigint", required);
  const byId = schema.createIndex("tokens_id").on("tokens").column("id").unique();
  const byExpiry = schema.createIndex("tokens_expiry").on("tokens").column("expires_at");
  return [tokens.compile(), byId.compile(), byExpiry.compile()];
};
