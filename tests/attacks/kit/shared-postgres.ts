/** One PostgreSQL for all suites of the lane, each with a database of its own: to make one takes longer than most suites. */
import pg from "pg";
import { inject } from "vitest";
import type { TestProject } from "vitest/node";
import { startPostgres } from "../../kit/servers/postgres.ts";
import { missingOf } from "../../needs/need.ts";
import { needsOfFile } from "../../needs/needs-of-file.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Undefined where there is no PostgreSQL, and nothing runs that needs it. */
    readonly attackedPostgres: string | undefined;
  }
}

/** Vitest calls it before the first file, and what it returns after the last. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (missingOf(needsOfFile("tests/attacks/kit/shared-postgres.ts")).length > 0) return async () => undefined;
  // Three processes of a suite, verbs beside them, and what is left of those that the suite before has killed.
  const postgres = await startPostgres({ settings: { max_connections: "500" } });
  project.provide("attackedPostgres", postgres.url);
  return () => postgres.stop();
}

export type OwnDatabase = AsyncDisposable & { readonly url: string };

let made = 0;

/** An empty one, which nobody else uses. */
export async function makeDatabase(): Promise<OwnDatabase> {
  const server = inject("attackedPostgres");
  if (server === undefined) throw new Error("vitest was started without the lane's config");
  const name = `attack_${process.pid}_${made++}`;
  const run = async (command: string) => {
    const client = new pg.Client({ connectionString: server });
    await client.connect();
    await client.query(command);
    await client.end();
  };
  await run(`CREATE DATABASE ${name}`);
  return {
    url: server.replace(/\/postgres$/, `/${name}`),
    // Whoever was killed may still be connected, as the server sees it.
    [Symbol.asyncDispose]: () => run(`DROP DATABASE ${name} WITH (FORCE)`),
  };
}
