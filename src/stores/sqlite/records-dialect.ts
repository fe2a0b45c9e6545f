import type { Statement } from "better-sqlite3";
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SelectQueryNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import type { SqliteConnection } from "./connection.ts";

/** Kysely's SQLite, except that each write goes with the group of everybody's writes and resolves when that is committed. */
export function groupCommitDialect(connection: SqliteConnection): Dialect {
  return {
    createDriver: () => new GroupCommitDriver(connection),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (database) => new SqliteIntrospector(database),
  };
}

class GroupCommitDriver implements Driver {
  readonly #connection: DatabaseConnection;

  constructor(connection: SqliteConnection) {
    this.#connection = new GroupCommitConnection(connection);
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }

  // It would stay open from one turn to the next, and swallow what others write meanwhile.
  beginTransaction = (): Promise<void> => Promise.reject(new Error("one statement is one transaction here"));
  commitTransaction = this.beginTransaction;
  rollbackTransaction = this.beginTransaction;

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {}
}

class GroupCommitConnection implements DatabaseConnection {
  readonly #connection: SqliteConnection;
  /** There are few of them, and making one costs more than running it. */
  readonly #statements = new Map<string, Statement>();

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  executeQuery<Row>({ sql, parameters, query }: CompiledQuery): Promise<QueryResult<Row>> {
    const { commits } = this.#connection;
    const run = (): QueryResult<Row> => {
      const statement = this.#statementOf(sql);
      if (statement.reader) return { rows: statement.all(...parameters) as Row[] };
      return { numAffectedRows: BigInt(statement.run(...parameters).changes), rows: [] };
    };
    return SelectQueryNode.is(query) ? commits.read(run) : commits.write(run);
  }

  // biome-ignore lint/correctness/useYield: nobody streams rows from a file that answers at once
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error("rows are not streamed here");
  }

  #statementOf(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#connection.database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}
