import type { Database } from "better-sqlite3";
import type { CompiledQuery, Kysely } from "kysely";
import { GatewayError } from "../../contract/index.ts";
import { planSteps, presentVersion, type Step, type Tables, versionTable } from "../migrations/index.ts";
import { isStorageError, stateUnavailable } from "./sqlite-errors.ts";

/** In one transaction that nothing can come between, because it is over before this returns. */
export function migrateRecords(database: Database, tables: Kysely<Tables>, steps?: readonly Step[]): void {
  const untyped = tables as unknown as Kysely<unknown>;
  const run = ({ sql, parameters }: CompiledQuery) => database.prepare(sql).run(...parameters);
  const migrate = database.transaction(() => {
    run(versionTable(untyped));
    const { sql, parameters } = presentVersion(untyped);
    const { version } = database.prepare(sql).get(...parameters) as { version: number };
    for (const statement of planSteps(untyped, "sqlite", version, steps)) run(statement);
    // Leases were the former process's, and ran on its clock.
    database.prepare("update deliveries set leased_until = 0 where leased_until <> 0").run();
  });
  try {
    migrate.immediate();
  } catch (error) {
    throw isStorageError(error) ? stateUnavailable(error) : GatewayError.from(error);
  }
}
