import type { Database } from "better-sqlite3";
import {
  type Admission,
  type Admitted,
  type CallLedger,
  type Charge,
  type Counters,
  faultPoint,
  type KeptRoom,
  type Limited,
  type OpenCall,
  type Settlement,
} from "../../contract/index.ts";
import type { GroupCommit } from "./group-commit.ts";
import { KeptAnswers } from "./kept-answers.ts";
import type { SqliteMembers } from "./shared-members.ts";
import { AFTERLIFE_MS, OpenCalls } from "./shared-open-calls.ts";

type Parts = {
  readonly database: Database;
  readonly commits: GroupCommit;
  readonly members: SqliteMembers;
  readonly now: () => number;
  /** In memory: they end with the process. */
  readonly counters: Counters;
};

type Named = {
  readonly call: string;
  readonly member: string;
  readonly digest: string;
  readonly answer: string | null;
};
type Once = NonNullable<Admission["once"]>;

/** Whose a call is when somebody was told that it is lost: so it stays, whatever its process says later. */
const NOBODY = "";

const OPENED: Promise<Admitted> = Promise.resolve({ type: "open" });
const SETTLED = Promise.resolve(undefined);

export class SqliteCalls implements CallLedger {
  readonly #parts: Parts;
  readonly #open: OpenCalls;
  readonly #kept: KeptAnswers;
  readonly #statements: ReturnType<typeof prepare>;
  readonly counters: Counters;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.counters = parts.counters;
    this.#open = new OpenCalls(parts);
    this.#kept = new KeptAnswers(parts.database, parts.now);
    this.#statements = prepare(parts.database);
  }

  admit(admission: Admission): Promise<Admitted> {
    const { once } = admission;
    if (once !== undefined) return this.#admitNamed(admission, once);
    const limited = this.counters.take(admission);
    if (limited !== undefined) return Promise.resolve(limited);
    // Without session and name there is nothing by which anybody could ask for it later.
    return admission.session === undefined ? OPENED : this.#open.admit(admission);
  }

  settle(settlement: Settlement): Promise<readonly KeptRoom[] | undefined> {
    const { once, slots } = settlement;
    if (slots !== undefined) this.counters.free(settlement.call, slots);
    if (once !== undefined) return this.#settleNamed(settlement, once);
    return settlement.session === undefined ? SETTLED : this.#open.settle(settlement.call);
  }

  async charge(charge: Charge): Promise<Limited | undefined> {
    return this.counters.take(charge);
  }

  openOf(session: string): Promise<readonly OpenCall[]> {
    return this.#parts.commits.read(() => this.#open.of(session));
  }

  async #admitNamed(admission: Admission, once: Once): Promise<Admitted> {
    const { call, member, session } = admission;
    const admitted = await this.#parts.commits.write((): Admitted => {
      const now = this.#parts.now();
      const named = this.#statements.get.get(once.key, now);
      const hasBegun = named !== undefined && isAgain(named, call, once.digest);
      if (named !== undefined && !hasBegun) return this.#repeat(named, once);
      const limited = hasBegun ? undefined : this.counters.take(admission);
      if (limited !== undefined) return limited;
      const lifeMs = Math.max(once.ttlMs, admission.ttlMs + AFTERLIFE_MS);
      // One whose time is over, with its place in its rooms.
      this.#statements.clear.run(once.key);
      this.#statements.begin.run(once.key, call, member, once.digest, now + lifeMs);
      if (session !== undefined) this.#open.insert(admission);
      return { type: "open" };
    });
    faultPoint("sqlite.admit.acknowledged");
    return admitted;
  }

  async #settleNamed({ call }: Settlement, once: NonNullable<Settlement["once"]>): Promise<readonly KeptRoom[]> {
    const crowded = await this.#parts.commits.write(() => {
      this.#open.delete(call);
      const { key, answer, ttlMs, rooms = [] } = once;
      if (answer === undefined) this.#statements.forget.run(key, call);
      else if (this.#statements.answer.run(answer, this.#parts.now() + ttlMs, key, call).changes > 0)
        return this.#kept.keep(key, answer, rooms);
      return [];
    });
    faultPoint("sqlite.settle.acknowledged");
    return crowded;
  }

  #repeat(named: Named, { key, digest }: Once): Admitted {
    if (named.digest !== digest) return { type: "mismatch" };
    if (named.answer !== null) return { type: "done", answer: named.answer };
    const home = this.#parts.members.alive(named.member);
    if (home !== undefined) return { type: "running", call: named.call, home };
    this.#statements.lose.run(key);
    return { type: "lost", call: named.call };
  }
}

/** Whoever admitted it has not heard that it was, and asks once more. */
function isAgain(named: Named, call: string, digest: string): boolean {
  return named.call === call && named.digest === digest && named.answer === null && named.member !== NOBODY;
}

function prepare(database: Database) {
  return {
    get: database.prepare<[string, number], Named>(
      "SELECT call, member, digest, answer FROM named_calls WHERE key = ? AND expires_at > ?",
    ),
    begin: database.prepare<[string, string, string, string, number]>(
      "INSERT INTO named_calls VALUES (?, ?, ?, ?, NULL, ?)",
    ),
    clear: database.prepare<[string]>("DELETE FROM named_calls WHERE key = ?"),
    answer: database.prepare<[string, number, string, string]>(
      `UPDATE named_calls SET answer = ?, expires_at = ? WHERE key = ? AND call = ? AND member <> '${NOBODY}'`,
    ),
    forget: database.prepare<[string, string]>(
      `DELETE FROM named_calls WHERE key = ? AND call = ? AND member <> '${NOBODY}'`,
    ),
    lose: database.prepare<[string]>(`UPDATE named_calls SET member = '${NOBODY}' WHERE key = ?`),
  };
}
