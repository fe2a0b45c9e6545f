import { type CompiledQuery, type Kysely, sql } from "kysely";
import { GatewayError } from "../../contract/index.ts";
import type { EngineName, Step } from "./step.ts";
import { recordsStep } from "./step-1-records.ts";
import { blobChunksStep } from "./step-2-blob-chunks.ts";
import { governanceStep } from "./step-3-governance.ts";
import { approvedDefinitionsStep } from "./step-4-approved-definitions.ts";
import { blockChangesStep } from "./step-5-block-changes.ts";
import { tokenMakersStep } from "./step-6-token-makers.ts";
import { tokenNamesStep } from "./step-7-token-names.ts";
import { taskResultsStep } from "./step-8-task-results.ts";
import { makerNamesStep } from "./step-9-maker-names.ts";
import { tokensOfTenantsStep } from "./step-10-tokens-of-tenants.ts";
import { approvalDecidersStep } from "./step-11-approval-deciders.ts";
import { namesOfCallersStep } from "./step-12-names-of-callers.ts";
import type { VersionTable } from "./tables.ts";

/** In order; the first leads to version 1. Steps are only ever added at the end. */
export const STEPS: readonly Step[] = [
  recordsStep,
  blobChunksStep,
  governanceStep,
  approvedDefinitionsStep,
  blockChangesStep,
  tokenMakersStep,
  tokenNamesStep,
  taskResultsStep,
  makerNamesStep,
  tokensOfTenantsStep,
  approvalDecidersStep,
  namesOfCallersStep,
];

type Versioned = { records_versions: VersionTable };

/** The table that tells which steps were made; harmless where it is there. */
export function versionTable(database: Kysely<unknown>): CompiledQuery {
  return database.schema
    .createTable("records_versions")
    .ifNotExists()
    .addColumn("version", "integer", (column) => column.primaryKey().notNull())
    .addColumn("name", "text", (column) => column.notNull())
    .compile();
}

/** Its one row has `version`: 0 in a new database. */
export function presentVersion(database: Kysely<unknown>): CompiledQuery {
  return (database as Kysely<Versioned>)
    .selectFrom("records_versions")
    .select(({ fn }) => fn.coalesce(fn.max("version"), sql.lit(0)).as("version"))
    .compile();
}

/** What leads from `version` to the newest one, each step followed by its record. Throws where the database is newer than we are. */
export function planSteps(
  database: Kysely<unknown>,
  engine: EngineName,
  version: number,
  steps: readonly Step[] = STEPS,
): readonly CompiledQuery[] {
  if (version > steps.length) {
    throw new GatewayError("STATE_UNAVAILABLE", {
      message: `The database has version ${version}, and this program knows only versions up to ${steps.length}: a newer one has used it. Start that one, or give this one another database.`,
      details: { found: version, known: steps.length },
    });
  }
  return steps.slice(version).flatMap((step, index) => [
    ...step.statements(database, engine),
    (database as Kysely<Versioned>)
      .insertInto("records_versions")
      .values({ version: version + index + 1, name: step.name })
      .compile(),
  ]);
}
