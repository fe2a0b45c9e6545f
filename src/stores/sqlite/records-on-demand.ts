import { type BlobRows, type DeliveryRows, GatewayError, type Records, type TaskRows } from "../../contract/index.ts";
import type { GroupCommit } from "./group-commit.ts";

/** Loads what queries are built with when the first one is made: most gateways that start make none, and it was 6 ms of every start. */
export class RecordsOnDemand implements Records {
  readonly #commits: GroupCommit;
  readonly #open: () => Promise<Records>;
  #records: Promise<Records> | undefined;
  #isClosed = false;

  constructor(commits: GroupCommit, open: () => Promise<Records>) {
    this.#commits = commits;
    this.#open = open;
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
    of: async (principal) => (await this.load()).tasks.of(principal),
    drop: async (id) => (await this.load()).tasks.drop(id),
    expire: async (now) => (await this.load()).tasks.expire(now),
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
