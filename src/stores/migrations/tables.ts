/** The tables as the newest migration leaves them. Times are in ms; truth is 0 or 1, because SQLite has no booleans. */
import type { Generated } from "kysely";

export interface Tables {
  tasks: TaskTable;
  deliveries: DeliveryTable;
  blobs: BlobTable;
  /** PostgreSQL only: one process keeps its blobs in files. */
  blob_chunks: BlobChunkTable;
}

export interface TaskTable {
  /** Tells the older of two rows. */
  sequence: Generated<number>;
  id: string;
  principal: string;
  member: string;
  is_over: number;
  state: string;
  expires_at: number;
}

export interface DeliveryTable {
  /** Of one order, the smaller one goes first. */
  sequence: Generated<number>;
  id: string;
  channel: string;
  target: string;
  body: string;
  order_key: string;
  attempts: number;
  due_at: number;
  expires_at: number;
  last_error: string;
  /** On the store's own clock: whoever took it has it until then. 0: nobody. */
  leased_until: number;
  /** 0: it waits. */
  failed_at: number;
}

export interface BlobTable {
  id: string;
  bytes: number;
  digest: string;
  type: string;
  created_at: number;
}

export interface BlobChunkTable {
  blob: string;
  number: number;
  content: Uint8Array;
  /** On the store's own clock. */
  written_at: number;
}

/** What has been done to the database; in every version of it the same. */
export interface VersionTable {
  version: number;
  name: string;
}
