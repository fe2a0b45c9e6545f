import { randomUUID } from "node:crypto";
import type { Kysely } from "kysely";
import { required, sequence, textKey } from "../columns.ts";
import type { Step } from "../step.ts";
import type { GatewayTable } from "../tables.ts";

export const approvalTables: Step["statements"] = (database, engine) => {
  const { schema } = database;
  const whole = engine === "sqlite" ? "integer" : "bigint";
  const approvals = schema
    .createTable("approvals")
    .addColumn("sequence", whole, sequence(engine))
    .addColumn("id", textKey(engine), (column) => column.notNull().unique())
    .addColumn("tenant", "text", required)
    .addColumn("principal", "text", required)
    .addColumn("user_name", "text", required)
    .addColumn("client", "text", required)
    .addColumn("server", "text", required)
    .addColumn("name", "text", required)
    .addColumn("tool", "text", required)
    .addColumn("digest", "text", required)
    .addColumn("input", "text", required)
    .addColumn("key", "text", required)
    // Null as soon as it is over: of one key one is open, and any number were.
    .addColumn("open_key", textKey(engine), (column) => column.unique())
    .addColumn("policy_version", "text", required)
    .addColumn("reason", "text", required)
    .addColumn("capability", "text", required)
    .addColumn("evidence", "text", required)
    .addColumn("nonce", "text", required)
    .addColumn("created_at", "bigint", required)
    .addColumn("expires_at", "bigint", required)
    .addColumn("state", "text", required)
    .addColumn("decided_by", "text", required)
    .addColumn("given", "text", required);
  const byTime = schema.createIndex("approvals_by_time").on("approvals").columns(["state", "expires_at"]);
  const gateway = schema.createTable("gateway_identity").addColumn("id", "text", required);
  const first = (database as Kysely<{ gateway_identity: GatewayTable }>)
    .insertInto("gateway_identity")
    .values({ id: randomUUID() });
  return [approvals.compile(), byTime.compile(), gateway.compile(), first.compile()];
};
