/**
 * The one database file of a gateway that runs alone. Shared state and records are tables of the same file and go through
 * the same connection: nobody else may have it open, and every write goes through `commits`.
 */
import { closeSync, fsync, openSync } from "node:fs";
import { dirname } from "node:path";
import type { Database } from "better-sqlite3";
import { makePrivateFolder } from "../../contract/index.ts";
import { GroupCommit } from "./group-commit.ts";
import { migrate } from "./migrate.ts";
import { codeOf, openError } from "./sqlite-errors.ts";

export type SqliteConnection = {
  readonly file: string;
  readonly database: Database;
  readonly commits: GroupCommit;
  /** Commits what waits, and lets go of the file. Safe to call twice. */
  close(): void;
};

const SCHEMA = ["CREATE TABLE probe (id INTEGER PRIMARY KEY, filler BLOB NOT NULL) STRICT"];

/** Throws an error that names the file and says what to do, above all when another gateway has it. */
export async function openSqlite(file: string): Promise<SqliteConnection> {
  const { default: Sqlite } = await import("better-sqlite3");
  let database: Database | undefined;
  let fresh: number | undefined;
  const letGo = () => {
    database?.close();
    // Only now, because closing any handle of the file drops all locks that this process has on it.
    if (fresh !== undefined) closeSync(fresh);
  };
  try {
    fresh = createPrivately(file);
    // No waiting for locks: whoever holds one is another gateway and keeps it.
    database = new Sqlite(file, { timeout: 0 });
    // Nothing of a new file can be lost yet, so nobody waits for the disk: it is synced once, behind our back.
    if (fresh !== undefined) database.pragma("synchronous = OFF");
    configure(database);
    migrate(database, "connection", SCHEMA);
    // NORMAL: a commit is handed to the kernel before it is acknowledged, so killing the process loses nothing. Only a power
    // cut can take back the last commits; it cannot damage the file, because the log is synced before it is copied into it.
    // FULL would cost a sync of the disk with each group, for a machine that goes down with its only gateway.
    database.pragma("synchronous = NORMAL");
    if (fresh !== undefined) fsync(fresh, () => undefined);
  } catch (error) {
    letGo();
    throw openError(file, error);
  }
  const opened = database;
  const commits = new GroupCommit(opened);
  return {
    file,
    database: opened,
    commits,
    close() {
      if (!opened.open) return;
      commits.close();
      letGo();
    },
  };
}

function configure(database: Database): void {
  // The first transaction takes a lock of the operating system on the file and never gives it back; a kill does. It also
  // keeps the index of the log in our own memory.
  database.pragma("locking_mode = EXCLUSIVE");
  database.pragma("journal_mode = WAL");
  database.pragma("journal_size_limit = 67108864");
  database.pragma("foreign_keys = ON");
  database.exec("BEGIN EXCLUSIVE; COMMIT");
}

/**
 * What clients said is for nobody else on the machine. Returns a handle of a new file, and undefined where there is one: that
 * is not touched, because closing it would drop its locks.
 */
function createPrivately(file: string): number | undefined {
  makePrivateFolder(dirname(file));
  try {
    return openSync(file, "wx", 0o600);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    return undefined;
  }
}
