import type { Kysely } from "kysely";
import { required, textKey } from "../columns.ts";
import type { Step } from "../step.ts";
import type { PolicyVersionTable } from "../tables.ts";

export const policyTables: Step["statements"] = (database, engine) => {
  const { schema } = database;
  const policy = schema
    .createTable("policy")
    .addColumn("tenant", textKey(engine), required)
    .addColumn("kind", "text", required)
    .addColumn("key", textKey(engine), required)
    .addColumn("value", "text", required)
    .addColumn("updated_at", "bigint", required)
    .addColumn("updated_by", "text", required)
    .addPrimaryKeyConstraint("policy_key", ["tenant", "kind", "key"]);
  const version = schema.createTable("policy_version").addColumn("version", "bigint", required);
  const first = (database as Kysely<{ policy_version: PolicyVersionTable }>)
    .insertInto("policy_version")
    .values({ version: 0 });
  return [policy.compile(), version.compile(), first.compile()];
};
