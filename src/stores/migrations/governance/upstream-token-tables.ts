import { required, textKey } from "../columns.ts";
import type { Step } from "../step.ts";

export const upstreamTokenTables: Step["statements"] = ({ schema }, engine) => {
  const tokens = schema
    .createTable("upstream_tokens")
    .addColumn("id", textKey(engine), (column) => column.primaryKey().notNull())
    .addColumn("server", "text", required)
    .addColumn("tenant", "text", required)
    .addColumn("client", "text", required)
    .addColumn("user_id", "text", required)
    .addColumn("principal", "text", required)
    .addColumn("session_id", "text", required)
    .addColumn("risk_class", "integer", required)
    .addColumn("scope_list", "text", required)
    .addColumn("audience", "text", required)
    .addColumn("expires_at", "bigint", required)
    .addColumn("ciphertext", "text", required)
    .addColumn("wrapped_key", "text", required)
    .addColumn("nonce", "text", required)
    .addColumn("kms_key_url", "text", required)
    .addColumn("version", "bigint", required)
    .addColumn("leased_until", "bigint", required);
  const byEnd = schema.createIndex("upstream_tokens_expires_at").on("upstream_tokens").column("expires_at");
  const bySession = schema.createIndex("upstream_tokens_session").on("upstream_tokens").column("session_id");
  return [tokens.compile(), byEnd.compile(), bySession.compile()];
};
