import {
  type ApprovalRows,
  type AuditRows,
  type BlobRows,
  type BlockRows,
  type Change,
  type DeliveryRows,
  GatewayError,
  type PolicyRows,
  type Records,
  type TaskRows,
  type TokenRows,
  type UpstreamTokenRows,
} from "../../contract/index.ts";
import type { GroupCommit } from "./group-commit.ts";

/** What every start asks for, and mostly finds nothing of. */
export type Rare = "policy" | "block" | "approval";

/** Loads what queries are built with when the first one is made: most gateways that start make none, and it was 6 ms of every start. */
export class RecordsOnDemand implements Records {
  readonly #commits: GroupCommit;
  readonly #open: () => Promise<Records>;
  readonly #hasAny: (what: Rare) => boolean;
  #records: Promise<Records> | undefined;
  #isClosed = false;

  /** `hasAny`: whether there is, or ever was, anything of that, found out without loading anything. */
  constructor(commits: GroupCommit, open: () => Promise<Records>, hasAny: (what: Rare) => boolean) {
    this.#commits = commits;
    this.#open = open;
    this.#hasAny = hasAny;
  }

  /** Tried again with the next use where it fails. */
  load(): Promise<Records> {
    if (this.#isClosed) return Promise.reject(new GatewayError("STATE_UNAVAILABLE", { details: { store: "sqlite" } }));
    this.#records ??= this.#open().catch((error: unknown) => {
      this.#records = undefined;
      throw error;
    });
    return this.#records;
  }

  readonly tasks: TaskRows = {
    put: async (row) => (await this.load()).tasks.put(row),
    update: async (row) => (await this.load()).tasks.update(row),
    get: async (id) => (await this.load()).tasks.get(id),
    of: async (...given) => (await this.load()).tasks.of(...given),
    trim: async (...given) => (await this.load()).tasks.trim(...given),
    trimOpen: async (...given) => (await this.load()).tasks.trimOpen(...given),
    drop: async (id) => (await this.load()).tasks.drop(id),
    expire: async (now) => (await this.load()).tasks.expire(now),
  };

  readonly audit: AuditRows = {
    head: async (writer) => (await this.load()).audit.head(writer),
    heads: async (after, limit) => (await this.load()).audit.heads(after, limit),
    uncovered: async (limit) => (await this.load()).audit.uncovered(limit),
    writers: async (after, limit) => (await this.load()).audit.writers(after, limit),
    chain: async (...given) => (await this.load()).audit.chain(...given),
    search: async (search) => (await this.load()).audit.search(search),
    lastRun: async () => (await this.load()).audit.lastRun(),
    unindexed: async (after, limit) => (await this.load()).audit.unindexed(after, limit),
    oldest: async (limit) => (await this.load()).audit.oldest(limit),
    lastCheckpoint: async () => (await this.load()).audit.lastCheckpoint(),
    checkpoints: async (from, limit) => (await this.load()).audit.checkpoints(from, limit),
  };

  readonly deliveries: DeliveryRows = {
    add: async (delivery) => (await this.load()).deliveries.add(delivery),
    take: async (now, limit, leaseMs) => (await this.load()).deliveries.take(now, limit, leaseMs),
    done: async (id) => (await this.load()).deliveries.done(id),
    retry: async (...given) => (await this.load()).deliveries.retry(...given),
    fail: async (...given) => (await this.load()).deliveries.fail(...given),
    failed: async (limit) => (await this.load()).deliveries.failed(limit),
    count: async () => (await this.load()).deliveries.count(),
  };

  readonly blobs: BlobRows = {
    add: async (facts) => (await this.load()).blobs.add(facts),
    get: async (id) => (await this.load()).blobs.get(id),
    drop: async (id) => (await this.load()).blobs.drop(id),
    list: async (limit, after) => (await this.load()).blobs.list(limit, after),
  };

  readonly tokens: TokenRows = {
    find: async (hash) => (await this.load()).tokens.find(hash),
    get: async (id) => (await this.load()).tokens.get(id),
    list: async (limit, after, tenant) => (await this.load()).tokens.list(limit, after, tenant),
    count: async (tenant, now) => (await this.load()).tokens.count(tenant, now),
    touch: async (hash, usedAt) => (await this.load()).tokens.touch(hash, usedAt),
    expire: async (now) => (await this.load()).tokens.expire(now),
  };

  readonly approvals: ApprovalRows = {
    get: async (id) => (await this.load()).approvals.get(id),
    states: async (ids) => (await this.load()).approvals.states(ids),
    find: async (key) => (await this.load()).approvals.find(key),
    denied: async (key, by, now) => (await this.load()).approvals.denied(key, by, now),
    waiting: async (key, by) => (await this.load()).approvals.waiting(key, by),
    list: async (page) => (await this.load()).approvals.list(page),
    count: async (filter) => (await this.load()).approvals.count(filter),
    overdue: async (now, limit) =>
      (await this.#mayHave("approval")) ? (await this.load()).approvals.overdue(now, limit) : [],
    forget: async (before, most) => {
      if (await this.#mayHave("approval")) await (await this.load()).approvals.forget(before, most);
    },
    gateway: async () => (await this.load()).approvals.gateway(),
  };

  readonly policy: PolicyRows = {
    load: async () =>
      (await this.#mayHave("policy")) ? (await this.load()).policy.load() : { version: 0, entries: [] },
    version: async () => ((await this.#mayHave("policy")) ? (await this.load()).policy.version() : 0),
  };

  /** Every start asks for it, and every few seconds after it. */
  async #mayHave(what: Rare): Promise<boolean> {
    return this.#isClosed || this.#commits.read(() => this.#hasAny(what));
  }

  readonly blocks: BlockRows = {
    load: async (now, limit) =>
      (await this.#mayHave("block")) ? (await this.load()).blocks.load(now, limit) : { version: 0, blocks: [] },
    version: async () => ((await this.#mayHave("block")) ? (await this.load()).blocks.version() : 0),
    changes: async (since) => (await this.load()).blocks.changes(since),
    expire: async (now) => (await this.load()).blocks.expire(now),
  };

  readonly upstreamTokens: UpstreamTokenRows = {
    get: async (id) => (await this.load()).upstreamTokens.get(id),
    find: async (...given) => (await this.load()).upstreamTokens.find(...given),
    expire: async (now) => (await this.load()).upstreamTokens.expire(now),
  };

  async write(changes: readonly Change[]): Promise<boolean> {
    return (await this.load()).write(changes);
  }

  async sync(): Promise<void> {
    await (await this.load()).sync();
  }

  get isUp(): boolean {
    return !this.#isClosed && this.#commits.isUp;
  }

  onHealth(listener: (isUp: boolean) => void): () => void {
    return this.#commits.onHealth(listener);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const records = await this.#records?.catch(() => undefined);
    await records?.close();
  }
}
