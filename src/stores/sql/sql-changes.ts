/** Changes that are data, as statements. Each table that takes part has a line here. */
import type { Change } from "../../contract/index.ts";
import { approvalStatements } from "./approval-rows.ts";
import { auditStatements } from "./audit-rows.ts";
import { blockStatements } from "./block-rows.ts";
import type { ChangeStatement } from "./change-statement.ts";
import { deliveryStatements } from "./delivery-rows.ts";
import { policyStatements } from "./policy-rows.ts";
import type { SqlEngine } from "./sql-engine.ts";
import { tokenStatements } from "./token-rows.ts";
import { upstreamTokenStatements } from "./upstream-token-rows.ts";

type Statements<Table extends Change["table"]> = (
  engine: SqlEngine,
  change: Extract<Change, { table: Table }>,
) => readonly ChangeStatement[];

/** Each is only given changes of its own table. */
type AnyStatements = (engine: SqlEngine, change: Change) => readonly ChangeStatement[];

const TABLES: { readonly [Table in Change["table"]]: Statements<Table> } = {
  audit: auditStatements,
  deliveries: deliveryStatements,
  policy: policyStatements,
  approval: approvalStatements,
  upstreamTokens: upstreamTokenStatements,
  tokens: tokenStatements,
  blocks: blockStatements,
};

export function statementsOf(engine: SqlEngine, changes: readonly Change[]): readonly ChangeStatement[] {
  return changes.flatMap((change) => (TABLES[change.table] as AnyStatements)(engine, change));
}
