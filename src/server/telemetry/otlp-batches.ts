/**
 * Sends things to a collector by OTLP over HTTP, as JSON: in batches, beside the calls. A collector that is slow or gone costs
 * a bounded number of them, never a call.
 */
import type { Log, Timer, Timers } from "../../contract/index.ts";

export type BatchOptions<Item> = {
  /** The collector's address; `path` is added to it. */
  readonly endpoint: string;
  readonly path: "/v1/traces" | "/v1/logs";
  readonly headers?: Readonly<Record<string, string>>;
  /** For log lines: "traces". */
  readonly name: string;
  readonly textOf: (items: readonly Item[]) => string;
  readonly onDropped: (reason: string, count: number) => void;
  readonly timers: Timers;
  readonly log: Log;
};

const EVERY_MS = 1_000;
const MAX_BATCH = 512;
const MAX_QUEUED = 4_096;
const SEND_MS = 10_000;
const CLOSE_MS = 2_000;

export class OtlpBatches<Item> {
  readonly #options: BatchOptions<Item>;
  #queue: Item[] = [];
  #timer: Timer | undefined;
  #sending: Promise<void> | undefined;
  #hasFailed = false;
  #isClosed = false;

  constructor(options: BatchOptions<Item>) {
    this.#options = options;
  }

  add(item: Item): void {
    if (this.#isClosed || this.#queue.length >= MAX_QUEUED) return this.#options.onDropped("queue full", 1);
    this.#queue.push(item);
    if (this.#queue.length >= MAX_BATCH) this.#send();
    else this.#timer ??= this.#options.timers.after(EVERY_MS, () => this.#send());
  }

  /** One batch at a time: a collector that does not keep up is not asked for more. */
  #send(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#sending || this.#queue.length === 0) return;
    const batch = this.#queue.splice(0, MAX_BATCH);
    this.#sending = this.#post(batch).finally(() => {
      this.#sending = undefined;
      if (this.#queue.length > 0) this.#send();
    });
  }

  async #post(batch: readonly Item[]): Promise<void> {
    const { endpoint, path, headers, name, textOf, log, onDropped } = this.#options;
    try {
      const response = await fetch(`${endpoint.replace(/\/+$/, "")}${path}`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: textOf(batch),
        redirect: "error",
        signal: AbortSignal.timeout(SEND_MS),
      });
      await response.body?.cancel();
      if (!response.ok) throw new Error(`the collector answered ${response.status}`);
      if (this.#hasFailed) log.info(`${name} are exported again`);
      this.#hasFailed = false;
    } catch (cause) {
      onDropped("collector failed", batch.length);
      // Once per outage: the counter tells the rest.
      if (!this.#hasFailed) log.warn(`${name} could not be exported`, { endpoint, cause });
      this.#hasFailed = true;
    }
  }

  /** Sends what is left, for a bounded time. Safe to call twice. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const deadline = Date.now() + CLOSE_MS;
    this.#send();
    while (this.#sending && Date.now() < deadline) {
      await Promise.race([this.#sending, new Promise((resolve) => setTimeout(resolve, CLOSE_MS).unref())]);
    }
    if (this.#queue.length > 0) this.#options.onDropped("closed", this.#queue.length);
    this.#queue = [];
  }
}
