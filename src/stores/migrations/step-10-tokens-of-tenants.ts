import type { Kysely } from "kysely";
import type { Step } from "./step.ts";

/** How many tokens a tenant has, and which, without a look at those of others. */
export const tokensOfTenantsStep: Step = {
  name: "tokens of tenants",
  statements: (database: Kysely<unknown>) => [
    database.schema.createIndex("tokens_tenant").on("tokens").columns(["tenant", "id"]).compile(),
  ],
};
