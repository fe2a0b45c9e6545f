import { CompiledQuery, sql } from "kysely";
import type {
  AuditBlock,
  AuditChange,
  AuditCheckpoint,
  AuditHead,
  AuditPlace,
  AuditRows,
  AuditRun,
  AuditSearch,
  OldBlock,
  UnindexedBlock,
} from "../../contract/index.ts";
import type { ChangeStatement } from "./change-statement.ts";
import type { SqlEngine } from "./sql-engine.ts";

const HEAD = ["writer", "number", "hash", "spooled"] as const;
const CHAINED = ["writer", "number", "count", "spooled", "at", "until", "previous", "hash", "signature"] as const;
const BLOCK = [...CHAINED, "marks", "lines"] as const;
const INSERT_BLOCK = `insert into audit_blocks (${BLOCK.join(", ")}, terms) values (${BLOCK.map(() => "?").join(", ")}, ?)`;
/** The last one stays: it says where the next one begins. */
const EMPTY_RUN = "last <= ? and number < (select max(number) from audit_runs)";
/** No block spans more, so that the index by its first event is enough. */
const MAX_BLOCK_SPAN_MS = 60_000;
const PLACED = ["at", "sequence", "lines"] as const;
const RUN = ["number", "last", "at", "until"] as const;
const CHECKPOINT = ["number", "at", "text", "signature"] as const;

export class SqlAuditRows implements AuditRows {
  readonly #engine: SqlEngine;

  constructor(engine: SqlEngine) {
    this.#engine = engine;
  }

  head(writer: string): Promise<AuditHead | undefined> {
    return this.#engine.run(() =>
      this.#database.selectFrom("audit_heads").select(HEAD).where("writer", "=", writer).executeTakeFirst(),
    );
  }

  heads(after: string, limit: number): Promise<readonly AuditHead[]> {
    const wanted = this.#database.selectFrom("audit_heads").select(HEAD).where("writer", ">", after);
    return this.#engine.run(() => wanted.orderBy("writer").limit(limit).execute());
  }

  uncovered(limit: number): Promise<readonly AuditHead[]> {
    const wanted = this.#database.selectFrom("audit_heads").select(HEAD).where("covered", "=", 0);
    return this.#engine.run(() => wanted.orderBy("writer").limit(limit).execute());
  }

  /** One after the other: each is found by a look into the index, where `distinct` would read all of it. */
  async writers(after: string, limit: number): Promise<readonly string[]> {
    const found: string[] = [];
    for (let last = after; found.length < limit; ) {
      const wanted = this.#database.selectFrom("audit_blocks").select("writer").where("writer", ">", last);
      const next = await this.#engine.run(() => wanted.orderBy("writer").limit(1).executeTakeFirst());
      if (!next) break;
      last = next.writer;
      found.push(last);
    }
    return found;
  }

  chain(writer: string, from: number, limit: number): Promise<readonly AuditBlock[]> {
    const wanted = this.#database.selectFrom("audit_blocks").select(BLOCK).where("writer", "=", writer);
    return this.#engine.run(() => wanted.where("number", ">=", from).orderBy("number").limit(limit).execute());
  }

  search(search: AuditSearch): Promise<readonly (AuditPlace & { readonly lines: string })[]> {
    return search.terms.length === 0 ? this.#byTime(search) : this.#byTerms(search);
  }

  #byTime({ from, to, before, limit }: AuditSearch) {
    const wanted = this.#database
      .selectFrom("audit_blocks")
      .select(PLACED)
      .where("at", ">=", Math.floor(from) - MAX_BLOCK_SPAN_MS)
      .where("until", ">=", Math.floor(from))
      .where("at", "<=", Math.ceil(to));
    const older = before ? wanted.where(sql<boolean>`(at, sequence) < (${before.at}, ${before.sequence})`) : wanted;
    return this.#engine.run(() => older.orderBy("at", "desc").orderBy("sequence", "desc").limit(limit).execute());
  }

  /** What is in no run yet comes first: it is the newest. */
  async #byTerms(search: AuditSearch) {
    const { from, to, before, limit } = search;
    const { last = 0 } = (await this.lastRun()) ?? {};
    let wanted = this.#database
      .selectFrom("audit_blocks")
      .select(PLACED)
      .where("sequence", ">", last)
      .where("at", "<=", Math.ceil(to))
      .where("until", ">=", Math.floor(from));
    if (before) wanted = wanted.where("sequence", "<", before.sequence);
    const found = await this.#engine.run(() => wanted.orderBy("sequence", "desc").limit(limit).execute());
    if (found.length === limit) return found;
    return [...found, ...(await this.#inRuns({ ...search, limit: limit - found.length }))];
  }

  /** Run by run, from the newest on; the first term leads, and every other one is looked up for each of its blocks. */
  #inRuns({ terms: [first = 0, ...others], from, to, before, limit }: AuditSearch) {
    let wanted = this.#database
      .selectFrom("audit_runs as run")
      // Cross joins, because SQLite leaves the order of those as it is written: it would begin with all blocks.
      .crossJoin("audit_terms as term")
      .crossJoin("audit_blocks as block")
      .select(["block.at as at", "block.sequence as sequence", "block.lines as lines"])
      .whereRef("term.run", "=", "run.number")
      .where("term.term", "=", first)
      .whereRef("block.sequence", "=", "term.block")
      .where("run.until", ">=", Math.floor(from))
      .where("run.at", "<=", Math.ceil(to))
      .where("block.until", ">=", Math.floor(from))
      .where("block.at", "<=", Math.ceil(to));
    if (before) wanted = wanted.where("term.block", "<", before.sequence);
    for (const other of others) {
      wanted = wanted.where(({ exists, selectFrom }) =>
        exists(
          selectFrom("audit_terms as other")
            .select("other.term")
            .whereRef("other.run", "=", "run.number")
            .where("other.term", "=", other)
            .whereRef("other.block", "=", "term.block"),
        ),
      );
    }
    return this.#engine.run(() =>
      wanted.orderBy("run.number", "desc").orderBy("term.block", "desc").limit(limit).execute(),
    );
  }

  lastRun(): Promise<AuditRun | undefined> {
    const wanted = this.#database.selectFrom("audit_runs").select(RUN).orderBy("number", "desc");
    return this.#engine.run(() => wanted.limit(1).executeTakeFirst());
  }

  unindexed(after: number, limit: number): Promise<readonly UnindexedBlock[]> {
    const wanted = this.#database
      .selectFrom("audit_blocks")
      .select(["sequence", "at", "until", "count"])
      .where("sequence", ">", after);
    return this.#engine.run(() => wanted.orderBy("sequence").limit(limit).execute());
  }

  oldest(limit: number): Promise<readonly OldBlock[]> {
    const wanted = this.#database
      .selectFrom("audit_blocks")
      .select(["sequence", "writer", "number", "hash", "count", "until"]);
    return this.#engine.run(() => wanted.orderBy("sequence").limit(limit).execute());
  }

  lastCheckpoint(): Promise<AuditCheckpoint | undefined> {
    const wanted = this.#database.selectFrom("audit_checkpoints").select(CHECKPOINT).orderBy("number", "desc");
    return this.#engine.run(() => wanted.limit(1).executeTakeFirst());
  }

  checkpoints(from: number, limit: number): Promise<readonly AuditCheckpoint[]> {
    const wanted = this.#database.selectFrom("audit_checkpoints").select(CHECKPOINT).where("number", ">=", from);
    return this.#engine.run(() => wanted.orderBy("number").limit(limit).execute());
  }

  get #database() {
    return this.#engine.database;
  }
}

/** Written as they are: building them anew for every block would cost more than writing it. */
export function auditStatements({ name }: SqlEngine, change: AuditChange): readonly ChangeStatement[] {
  const ask = (text: string, parameters: readonly unknown[], mustFind = false): ChangeStatement => {
    let index = 0;
    const numbered = name === "postgres" ? text.replace(/\?/g, () => `$${++index}`) : text;
    return { query: CompiledQuery.raw(numbered, [...parameters]), mustFind };
  };
  if (change.type === "run") {
    const { number, last, at, until } = change.run;
    const added = ask(
      "insert into audit_runs (number, last, at, until) values (?, ?, ?, ?) on conflict (number) do nothing",
      [number, last, at, until],
      true,
    );
    const words = name === "postgres" ? "unnest(block.terms) as word(value)" : "json_each(block.terms) as word";
    const sorted = ask(
      `insert into audit_terms (run, term, block) select cast(? as bigint), word.value, block.sequence from audit_blocks as block cross join ${words} where block.sequence > ? and block.sequence <= ? order by 2, 3`,
      [number, change.after, last],
    );
    return [added, sorted];
  }
  if (change.type === "checkpoint") {
    const { number, at, text, signature } = change.checkpoint;
    const added = ask(
      "insert into audit_checkpoints (number, at, text, signature) values (?, ?, ?, ?) on conflict (number) do nothing",
      [number, at, text, signature],
      true,
    );
    const covering = change.heads.map(({ writer, hash }) =>
      ask("update audit_heads set covered = ? where writer = ? and hash = ?", [number, writer, hash]),
    );
    return [added, ...covering];
  }
  if (change.type === "remove") {
    const { edges, sequence } = change;
    return [
      ...edges.map(({ writer, number }) =>
        ask("delete from audit_blocks where writer = ? and number <= ?", [writer, number]),
      ),
      ask(`delete from audit_terms where run in (select number from audit_runs where ${EMPTY_RUN})`, [sequence]),
      ask(`delete from audit_runs where ${EMPTY_RUN}`, [sequence]),
    ];
  }
  const { block, terms } = change;
  const { writer, number, hash, spooled, previous } = block;
  const head =
    number === 0
      ? ask(
          "insert into audit_heads (writer, number, hash, spooled, covered) values (?, 0, ?, ?, 0) on conflict (writer) do nothing",
          [writer, hash, spooled],
          true,
        )
      : ask(
          "update audit_heads set number = ?, hash = ?, spooled = ?, covered = 0 where writer = ? and number = ? and hash = ?",
          [number, hash, spooled, writer, number - 1, previous],
          true,
        );
  const values = BLOCK.map((column) => block[column]);
  const words = name === "postgres" ? [...terms] : JSON.stringify(terms);
  return [head, ask(INSERT_BLOCK, [...values, words])];
}
