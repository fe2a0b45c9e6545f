/** Records in the one SQLite file of a gateway that runs alone. The connection is shared with others and not closed here. */
import type { Records } from "../../contract/index.ts";
import { KNOWN_VERSION } from "../migrations/known-version.ts";
import type { SqliteConnection } from "./connection.ts";
import { type Rare, RecordsOnDemand } from "./records-on-demand.ts";

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
  const records = new RecordsOnDemand(connection.commits, open, (what) => hasAny(connection, what));
  const version = presentVersion(connection);
  if (version !== undefined && version !== KNOWN_VERSION) await records.load();
  return records;
}

/** Where it stands whether there is anything. */
const RARE: Readonly<Record<Rare, { readonly table: string; readonly condition: string }>> = {
  policy: { table: "policy_version", condition: "version <> 0" },
  block: { table: "block_version", condition: "version <> 0" },
  approval: { table: "approvals", condition: "true" },
};

function hasAny({ database }: SqliteConnection, what: Rare): boolean {
  const { table, condition } = RARE[what];
  const isThere = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?").get(table) !== undefined;
  return isThere && database.prepare(`SELECT 1 FROM ${table} WHERE ${condition} LIMIT 1`).get() !== undefined;
}

/** Undefined where there are no tables yet. */
function presentVersion({ database }: SqliteConnection): number | undefined {
  const isThere = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'records_versions'").get() !== undefined;
  if (!isThere) return undefined;
  const row = database.prepare("SELECT coalesce(max(version), 0) AS version FROM records_versions").get();
  return (row as { version: number }).version;
}
