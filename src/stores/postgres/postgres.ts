/** Records, and the bytes of blobs, in a PostgreSQL that many processes share. */
import type { BlobBytes, Log, Records, Timers } from "../../contract/index.ts";
import type { PostgresTimes } from "./postgres-config.ts";

export type PostgresOptions = {
  /** postgres://user:password@host:port/name; what stands behind a `?` goes to the driver (`sslmode`). */
  readonly url: string;
  readonly timers: Timers;
  readonly log: Log;
  /** Everybody's time, in ms. */
  readonly now?: () => number;
  readonly times?: PostgresTimes;
};

/** Closing `records` closes both. */
export type Postgres = { readonly records: Records; readonly blobBytes: BlobBytes };

/** Makes the tables, or brings them to the version we know; throws where they are newer, or the server does not answer. */
export async function openPostgres(options: PostgresOptions): Promise<Postgres> {
  const { connectPostgres } = await import("./postgres-records.ts");
  return connectPostgres(options);
}
