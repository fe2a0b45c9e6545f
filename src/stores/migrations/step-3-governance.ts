/** Who may what, who said yes, and what has happened. Each mechanism has a file of its own in `governance/`. */
import { approvalTables } from "./governance/approval-tables.ts";
import { auditTables } from "./governance/audit-tables.ts";
import { blockTables } from "./governance/block-tables.ts";
import { policyTables } from "./governance/policy-tables.ts";
import { tokenTables } from "./governance/token-tables.ts";
import { upstreamTokenTables } from "./governance/upstream-token-tables.ts";
import type { Step } from "./step.ts";

export const governanceStep: Step = {
  name: "governance",
  statements: (database, engine) =>
    [auditTables, policyTables, approvalTables, blockTables, tokenTables, upstreamTokenTables].flatMap((tables) =>
      tables(database, engine),
    ),
};
