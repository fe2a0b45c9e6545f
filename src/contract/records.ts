import type { ApprovalRows } from "./approval.ts";
import type { AuditRows } from "./audit-rows.ts";
import type { BlockRows } from "./block.ts";
import type { Change, PolicyRows } from "./change.ts";
import type { TokenRows } from "./token.ts";
import type { UpstreamTokenRows } from "./upstream-token.ts";

/**
 * What is kept in tables for as long as it is worth something. Implemented on SQLite and PostgreSQL; one contract suite runs
 * on both. Every method is one transaction and resolves when it is durable; it rejects with STATE_UNAVAILABLE.
 */
export interface Records {
  readonly tasks: TaskRows;
  readonly deliveries: DeliveryRows;
  readonly blobs: BlobRows;
  readonly policy: PolicyRows;
  readonly audit: AuditRows;
  readonly approvals: ApprovalRows;
  readonly tokens: TokenRows;
  readonly blocks: BlockRows;
  readonly upstreamTokens: UpstreamTokenRows;
  /** All of them or none. False, and nothing is written: one that must find its row as it was did not. */
  write(changes: readonly Change[]): Promise<boolean>;
  /** Resolves when everything that was written outlives a power cut, too. */
  sync(): Promise<void>;
  readonly isUp: boolean;
  onHealth(listener: (isUp: boolean) => void): () => void;
  close(): Promise<void>;
}

/** A task that a caller was told about. `state` is JSON that only its mechanism reads. Times are everybody's, in ms. */
export type TaskRow = {
  readonly id: string;
  readonly principal: string;
  /** The process that runs it. */
  readonly member: string;
  readonly isOver: boolean;
  readonly state: string;
  /** What came of it, of any length; unset: nothing yet. */
  readonly result?: string;
  readonly expiresAt: number;
};

/** A task as it stands in a list: without its result. `sequence` tells the older of two. */
export type ListedTask = Omit<TaskRow, "result"> & { readonly sequence: number };

/** What is kept of those of one principal that are over. */
export type TaskBounds = { readonly rows: number; readonly characters: number };

export interface TaskRows {
  put(row: TaskRow): Promise<void>;
  /** Writes only where the row is still that member's and not over. False: it is not. */
  update(row: TaskRow): Promise<boolean>;
  get(id: string): Promise<TaskRow | undefined>;
  /** Those that have not expired, newest first: at most `limit`, older than `before` where it is given. */
  of(principal: string, limit: number, before?: number): Promise<readonly ListedTask[]>;
  /** Forgets the oldest of a principal's that are over, as far as there are more than this. */
  trim(principal: string, bounds: TaskBounds): Promise<void>;
  /** Forgets the oldest of a principal's that are not over and whose state begins so, as far as there are more than `rows`. */
  trimOpen(principal: string, rows: number, stateStart: string): Promise<void>;
  drop(id: string): Promise<void>;
  /** Forgets what has expired; resolves to how many. */
  expire(now: number): Promise<number>;
}

/** A message that must reach somebody outside. */
export type Delivery = {
  readonly id: string;
  /** Who sends it: the mechanism that knows how. */
  readonly channel: string;
  readonly target: string;
  readonly body: string;
  /** Messages of one order go one after the other; "" for those that need none. */
  readonly order: string;
  readonly attempts: number;
  readonly dueAt: number;
  readonly expiresAt: number;
  readonly lastError: string;
};

export interface DeliveryRows {
  /** Adding one of the same id again changes nothing. */
  add(delivery: Delivery): Promise<void>;
  /**
   * Takes up to `limit` that are due, for `leaseMs`: nobody else gets them meanwhile. Of one order only the oldest. Counts an
   * attempt. Leases run on the store's clock.
   */
  take(now: number, limit: number, leaseMs: number): Promise<readonly Delivery[]>;
  done(id: string): Promise<void>;
  /** With `attempt` (its `attempts` when it was taken) only where nobody has taken it since: a lease may have run out. */
  retry(id: string, dueAt: number, lastError: string, attempt?: number): Promise<void>;
  /** Gives up: it is kept for whoever looks, and never sent. `attempt` as with `retry`. */
  fail(id: string, lastError: string, attempt?: number): Promise<void>;
  failed(limit: number): Promise<readonly Delivery[]>;
  /** How many wait. */
  count(): Promise<number>;
}

export type BlobFacts = {
  readonly id: string;
  readonly bytes: number;
  /** SHA-256, in hex. */
  readonly digest: string;
  readonly type: string;
  readonly createdAt: number;
};

/** Where blobs are known; their bytes may be elsewhere. */
export interface BlobRows {
  add(facts: BlobFacts): Promise<void>;
  get(id: string): Promise<BlobFacts | undefined>;
  drop(id: string): Promise<boolean>;
  list(limit: number, after?: string): Promise<readonly BlobFacts[]>;
}
