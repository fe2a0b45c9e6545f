import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from "kysely";
import pg, { type Client, type ClientConfig, type Pool, type PoolClient } from "pg";
import { GatewayError } from "../../contract/index.ts";
import { isAway } from "./postgres-errors.ts";

export const MAX_CONNECTIONS = 10;

/** Questions that wait for a connection: more would only time out. */
const MAX_WAITING = 1_000;

/** How long an end in order may take; then the sockets are cut. */
const END_MS = 2_000;

/**
 * A connection that never ends the process. The pool listens for errors only while one lies idle: a reset that comes while it
 * is being made, or between two questions of whoever has it, would be nobody's. It also fails the next question, or the making.
 */
export class CalmClient extends pg.Client {
  constructor(config?: string | ClientConfig) {
    super(config);
    this.on("error", () => undefined);
  }
}

/** The pool as Kysely uses it, with two additions: a bound on who waits, and no way back for a connection that failed. */
export class GuardedPool implements PostgresPool {
  readonly options = {};
  readonly #pool: Pool;
  readonly #clients = new Set<PoolClient>();

  constructor(pool: Pool, onIdleError: (error: unknown) => void) {
    this.#pool = pool;
    pool.on("connect", (client) => void this.#clients.add(client as PoolClient));
    pool.on("remove", (client) => void this.#clients.delete(client as PoolClient));
    pool.on("error", onIdleError);
  }

  async connect(): Promise<PostgresPoolClient> {
    if (this.#pool.waitingCount >= MAX_WAITING) {
      throw new GatewayError("STATE_UNAVAILABLE", {
        message: "Too much waits for the database.",
        details: { store: "postgres" },
      });
    }
    return new GuardedClient(await this.#pool.connect());
  }

  async end(): Promise<void> {
    const ended = this.#pool.end();
    const cut = setTimeout(() => {
      for (const client of this.#clients) (client as unknown as Client).connection.stream.destroy();
    }, END_MS);
    try {
      await ended;
    } finally {
      clearTimeout(cut);
    }
  }
}

class GuardedClient implements PostgresPoolClient {
  readonly #client: PoolClient;
  // An answer that did not come in time may still come, to whoever asks next.
  #isBroken = false;

  constructor(client: PoolClient) {
    this.#client = client;
  }

  query(sql: unknown, parameters?: readonly unknown[]): never {
    return this.#query(sql as string, parameters ?? []) as never;
  }

  release(destroy = false): void {
    this.#client.release(destroy || this.#isBroken);
  }

  async #query(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<unknown>> {
    try {
      return (await this.#client.query(sql, [...parameters])) as unknown as PostgresQueryResult<unknown>;
    } catch (error) {
      this.#isBroken ||= isAway(error);
      throw error;
    }
  }
}
