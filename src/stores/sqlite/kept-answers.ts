import type { Database } from "better-sqlite3";
import type { KeptRoom } from "../../contract/index.ts";

type Total = { readonly items: number; readonly bytes: number };

/** The answers of named calls in their rooms. What goes from `named_calls` goes from here by itself. */
export class KeptAnswers {
  readonly #statements: ReturnType<typeof prepare>;
  readonly #now: () => number;

  constructor(database: Database, now: () => number) {
    this.#statements = prepare(database);
    this.#now = now;
  }

  /** Only inside a transaction. Gives back the rooms in which older ones had to go for it. */
  keep(key: string, answer: string, rooms: readonly KeptRoom[]): readonly KeptRoom[] {
    const bytes = Buffer.byteLength(key) + Buffer.byteLength(answer);
    for (const { name } of rooms) this.#statements.put.run(name, key, bytes);
    return rooms.filter((room) => this.#isOver(room)).filter((room) => this.#makeRoom(room, key));
  }

  /** Whether any had to go whose time was not over anyway. */
  #makeRoom(room: KeptRoom, newest: string): boolean {
    let hasForgotten = false;
    while (this.#isOver(room)) {
      const oldest = this.#statements.oldest.get(room.name);
      if (oldest === undefined || oldest.key === newest) break;
      hasForgotten ||= oldest.expires_at > this.#now();
      this.#statements.forget.run(oldest.key);
    }
    return hasForgotten;
  }

  #isOver({ name, maxItems, maxBytes }: KeptRoom): boolean {
    const { items, bytes } = this.#statements.total.get(name) ?? { items: 0, bytes: 0 };
    return items > maxItems || bytes > maxBytes;
  }
}

function prepare(database: Database) {
  return {
    put: database.prepare<[string, string, number]>(
      "INSERT OR IGNORE INTO kept_answers (room, key, bytes) VALUES (?, ?, ?)",
    ),
    total: database.prepare<[string], Total>("SELECT items, bytes FROM kept_rooms WHERE room = ?"),
    oldest: database.prepare<[string], { readonly key: string; readonly expires_at: number }>(
      `SELECT key, expires_at FROM kept_answers JOIN named_calls USING (key)
       WHERE room = ? ORDER BY kept_answers.number LIMIT 1`,
    ),
    forget: database.prepare<[string]>("DELETE FROM named_calls WHERE key = ?"),
  };
}
