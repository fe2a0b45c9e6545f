import type { Database } from "better-sqlite3";

/**
 * Brings the tables of one part of the file up to date. `steps[n]` leads from version n to n + 1 and is never changed once
 * it was released. All of it happens in one transaction, or nothing.
 */
export function migrate(database: Database, part: string, steps: readonly string[]): void {
  database.exec("CREATE TABLE IF NOT EXISTS schema_versions (part TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT");
  const row = database.prepare("SELECT version FROM schema_versions WHERE part = ?").get(part);
  const version = (row as { version: number } | undefined)?.version ?? 0;
  if (version > steps.length) {
    throw new Error(
      `${database.name} was written by a newer release (${part} version ${version}, this one knows ${steps.length}): ` +
        "start that release, or give this one a state folder of its own",
    );
  }
  if (version === steps.length) return;
  database.transaction(() => {
    for (const step of steps.slice(version)) database.exec(step);
    database.prepare("INSERT OR REPLACE INTO schema_versions VALUES (?, ?)").run(part, steps.length);
  })();
}
