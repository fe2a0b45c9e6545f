/** Records in the one SQLite file of a gateway that runs alone. The connection is shared with others and not closed here. */
import type { Records } from "../../contract/index.ts";
import { KNOWN_VERSION } from "../migrations/known-version.ts";
import type { SqliteConnection } from "./connection.ts";
import { RecordsOnDemand, type Versioned } from "./records-on-demand.ts";

export type SqliteRecordsOptions = {
  readonly connection: SqliteConnection;
  /** Everybody's time, in ms. */
  readonly now?: () => number;
};

/** Brings the tables to the version we know; throws where they are newer. In a new file they are made with the first use. */
export async function openSqliteRecords(options: SqliteRecordsOptions): Promise<Records> {
  const { connection } = options;
  const open = async () => {
    const { SqliteRecords } = await import("./records-in-tables.ts");
    return new SqliteRecords(options);
  };
  const records = new RecordsOnDemand(connection.commits, open, (what) => hasVersions(connection, what));
  const version = presentVersion(connection);
  if (version !== undefined && version !== KNOWN_VERSION) await records.load();
  return records;
}

function hasVersions({ database }: SqliteConnection, what: Versioned): boolean {
  const table = `${what}_version`;
  const isThere = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?").get(table) !== undefined;
  return isThere && database.prepare(`SELECT 1 FROM ${table} WHERE version <> 0`).get() !== undefined;
}

/** Undefined where there are no tables yet. */
function presentVersion({ database }: SqliteConnection): number | undefined {
  const isThere = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'records_versions'").get() !== undefined;
  if (!isThere) return undefined;
  const row = database.prepare("SELECT coalesce(max(version), 0) AS version FROM records_versions").get();
  return (row as { version: number }).version;
}
