import type { CompiledQuery, Kysely } from "kysely";
import type { Client } from "pg";
import { faultPoint } from "../../contract/index.ts";
import { planSteps, presentVersion, type Step, type Tables, versionTable } from "../migrations/index.ts";

/** Any number, as long as it is everybody's: the name of the lock that whoever migrates holds. */
const LOCK = "7236418210";

/**
 * All steps in one transaction. Whoever starts at the same time waits for it and then finds nothing left to do.
 * `client`: one of its own, because a step may take longer than any question.
 */
export async function migratePostgres(client: Client, tables: Kysely<Tables>, steps?: readonly Step[]): Promise<void> {
  const untyped = tables as unknown as Kysely<unknown>;
  const run = ({ sql, parameters }: CompiledQuery) => client.query(sql, [...parameters]);
  await client.query("begin");
  await client.query(`select pg_advisory_xact_lock(${LOCK})`);
  await run(versionTable(untyped));
  const { rows } = await run(presentVersion(untyped));
  const [{ version }] = rows as [{ version: number }];
  for (const statement of planSteps(untyped, "postgres", version, steps)) await run(statement);
  faultPoint("records.migration.writing");
  await client.query("commit");
  faultPoint("records.migration.written");
}
