import type { Database } from "better-sqlite3";
import type { Admission, Admitted, OpenCall } from "../../contract/index.ts";
import { CallTable } from "./call-table.ts";
import type { Gatherer, GroupCommit } from "./group-commit.ts";
import type { SqliteMembers } from "./shared-members.ts";

type Parts = {
  readonly database: Database;
  readonly commits: GroupCommit;
  readonly members: SqliteMembers;
  readonly now: () => number;
};

type Row = { readonly call: string; readonly member: string; readonly facts: string };

/** How long the record of a call outlives the time it may run: whoever comes back late can still be told. */
export const AFTERLIFE_MS = 60_000;

const OPEN: Admitted = { type: "open" };
/** Of what never was on disk. */
const FORGOTTEN = Promise.resolve(undefined);

/**
 * Calls that have no name but a session. Those that end before the group in which they began never reach the disk: they
 * were no more than an item in a table. The others are written with the next group. All that happens to such calls in one
 * group shares its promises, so that a call costs no promise of its own.
 */
export class OpenCalls implements Gatherer {
  readonly #parts: Parts;
  readonly #statements: ReturnType<typeof prepare>;
  /** Began in the present group. */
  readonly #fresh = new CallTable<Admission>();
  /** Go to disk with the present group. */
  readonly #due = new CallTable<Admission>();
  /** On disk, and over. */
  #over: string[] = [];
  #opened: Promise<Admitted> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#statements = prepare(parts.database);
    parts.commits.gather(this);
  }

  admit(admission: Admission): Promise<Admitted> {
    this.#fresh.set(admission);
    if (this.#opened === undefined) {
      this.#opened = this.#openGroup();
      // Not to have awaited it is no mistake.
      this.#opened.catch(() => undefined);
    }
    return this.#opened;
  }

  settle(call: string): Promise<undefined> {
    if (this.#fresh.delete(call) || this.#due.delete(call)) return FORGOTTEN;
    this.#over.push(call);
    return this.#parts.commits.end;
  }

  /** Resolves when those that begin in the present group are on disk or over. */
  async #openGroup(): Promise<Admitted> {
    const { commits } = this.#parts;
    // How the present group ends is no concern of theirs: they go with the next one.
    await commits.end.catch(() => undefined);
    this.#opened = undefined;
    for (const admission of this.#fresh.values()) this.#due.set(admission);
    this.#fresh.clear();
    if (this.#due.size > 0) await commits.end;
    return OPEN;
  }

  of(session: string): OpenCall[] {
    // Inside the transaction that writes them, those that are due are rows as well.
    const over = new Set(this.#over);
    const isRow = ({ call }: Row) => !over.has(call) && !this.#due.has(call);
    const rows = this.#statements.of.all(session, this.#parts.now()).filter(isRow);
    const begun = [...this.#due.values(), ...this.#fresh.values()].filter((admission) => admission.session === session);
    const isLost = (member: string) => this.#parts.members.alive(member) === undefined;
    return [...rows, ...begun].map(({ call, member, facts }) => ({ call, member, isLost: isLost(member), facts }));
  }

  get hasWrites(): boolean {
    return this.#due.size > 0 || this.#over.length > 0;
  }

  write(): void {
    for (const admission of this.#due.values()) this.insert(admission);
    for (const call of this.#over) this.delete(call);
  }

  written(): void {
    this.#due.clear();
    this.#over = [];
  }

  /** Only inside a transaction, as the next. */
  insert({ call, session = "", member, facts, ttlMs }: Admission): void {
    this.#statements.insert.run(call, session, member, facts, this.#parts.now() + ttlMs + AFTERLIFE_MS);
  }

  delete(call: string): void {
    this.#statements.delete.run(call);
  }
}

function prepare(database: Database) {
  return {
    insert: database.prepare<[string, string, string, string, number]>(
      "INSERT OR REPLACE INTO open_calls VALUES (?, ?, ?, ?, ?)",
    ),
    delete: database.prepare<[string]>("DELETE FROM open_calls WHERE call = ?"),
    of: database.prepare<[string, number], Row>(
      "SELECT call, member, facts FROM open_calls WHERE session = ? AND expires_at > ?",
    ),
  };
}
