import type { Database } from "better-sqlite3";
import { type Entries, faultPoint, type OwnedEntry } from "../../contract/index.ts";
import type { GroupCommit } from "./group-commit.ts";
import type { SqliteMembers } from "./shared-members.ts";

type Row = { readonly value: string; readonly owner: string; readonly fence: number };

type Parts = {
  readonly database: Database;
  readonly commits: GroupCommit;
  readonly members: SqliteMembers;
  readonly now: () => number;
};

export class SqliteEntries implements Entries {
  readonly #parts: Parts;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#statements = prepare(parts.database);
  }

  get(key: string): Promise<OwnedEntry | undefined> {
    return this.#parts.commits.read(() => this.#seen(this.#row(key)));
  }

  claim(
    key: string,
    by: string,
    created?: { readonly value: string; readonly ttlMs: number },
  ): Promise<OwnedEntry | undefined> {
    return this.#write("claim", () => {
      const row = this.#row(key);
      if (row === undefined) {
        if (created === undefined) return undefined;
        // Replaces one that has ended and was not swept yet.
        this.#statements.create.run(key, created.value, by, this.#parts.now() + created.ttlMs);
        return this.#seen({ value: created.value, owner: by, fence: 1 });
      }
      if (row.owner === by || this.#parts.members.alive(row.owner) !== undefined) return this.#seen(row);
      this.#statements.own.run(by, key);
      return this.#seen({ value: row.value, owner: by, fence: row.fence + 1 });
    });
  }

  put(key: string, by: string, value: string, ttlMs: number): Promise<boolean> {
    const { now } = this.#parts;
    return this.#write("put", () => this.#statements.put.run(value, now() + ttlMs, key, by, now()).changes > 0);
  }

  touch(key: string, by: string, ttlMs: number): Promise<boolean> {
    const { now } = this.#parts;
    return this.#write("touch", () => this.#statements.touch.run(now() + ttlMs, key, by, now()).changes > 0);
  }

  release(key: string, by: string): Promise<boolean> {
    return this.#write("release", () => this.#statements.release.run(key, by, this.#parts.now()).changes > 0);
  }

  drop(key: string, by: string): Promise<boolean> {
    return this.#write("drop", () => this.#statements.drop.run(key, by, this.#parts.now()).changes > 0);
  }

  async #write<T>(what: string, work: () => T): Promise<T> {
    const value = await this.#parts.commits.write(work);
    faultPoint(`sqlite.${what}.acknowledged`);
    return value;
  }

  #row(key: string): Row | undefined {
    return this.#statements.get.get(key, this.#parts.now());
  }

  #seen(row: Row | undefined): OwnedEntry | undefined {
    return row && { ...row, home: this.#parts.members.alive(row.owner) };
  }
}

function prepare(database: Database) {
  return {
    get: database.prepare<[string, number], Row>(
      "SELECT value, owner, fence FROM entries WHERE key = ? AND expires_at > ?",
    ),
    create: database.prepare<[string, string, string, number]>("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, 1, ?)"),
    own: database.prepare<[string, string]>("UPDATE entries SET owner = ?, fence = fence + 1 WHERE key = ?"),
    put: database.prepare<[string, number, string, string, number]>(
      "UPDATE entries SET value = ?, expires_at = ? WHERE key = ? AND owner = ? AND expires_at > ?",
    ),
    touch: database.prepare<[number, string, string, number]>(
      "UPDATE entries SET expires_at = ? WHERE key = ? AND owner = ? AND expires_at > ?",
    ),
    release: database.prepare<[string, string, number]>(
      "UPDATE entries SET owner = '' WHERE key = ? AND owner = ? AND expires_at > ?",
    ),
    drop: database.prepare<[string, string, number]>(
      "DELETE FROM entries WHERE key = ? AND owner = ? AND expires_at > ?",
    ),
  };
}
