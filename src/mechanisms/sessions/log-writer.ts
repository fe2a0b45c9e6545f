/**
 * Numbered texts on their way to a shared log: in order, a batch at a time, and nobody waits for them. While the store is
 * away they are kept, within a bound, and go with the next ones.
 */
import { faultPoint, type LogBounds, type LogItem, type Logs } from "../../contract/index.ts";

const MOST_WAITING = 1000;

export type LogWriterOptions = {
  readonly logs: Logs;
  readonly log: string;
  /** As they are when a batch goes. */
  readonly bounds: () => LogBounds;
  /** Names the fault points around each batch: `<point>.before`, `<point>.after`. */
  readonly point: string;
};

export class LogWriter {
  readonly #options: LogWriterOptions;
  #items: LogItem[] = [];
  #removals: number[] = [];
  #writing: Promise<void> | undefined;
  #isStopped = false;

  constructor(options: LogWriterOptions) {
    this.#options = options;
  }

  append(item: LogItem): void {
    if (this.#isStopped) return;
    this.#items.push(item);
    if (this.#items.length > MOST_WAITING) this.#items.shift();
    this.#start();
  }

  /** Takes back what was appended. */
  remove(sequence: number): void {
    const index = this.#items.findIndex((item) => item.sequence === sequence);
    if (index >= 0) this.#items.splice(index, 1);
    // It may be in the batch that is being written.
    this.#removals.push(sequence);
    this.#start();
  }

  /** Resolves when nothing is on its way any more: all of it is durable, or the store is away. */
  flush(): Promise<void> {
    this.#start();
    return this.#writing ?? Promise.resolve();
  }

  /** Nothing more is written. Resolves when what is being written is. */
  stop(): Promise<void> {
    [this.#items, this.#removals] = [[], []];
    this.#isStopped = true;
    return this.#writing ?? Promise.resolve();
  }

  get #hasMore(): boolean {
    return this.#items.length + this.#removals.length > 0;
  }

  #start(): void {
    if (this.#writing !== undefined || !this.#hasMore) return;
    this.#writing = this.#write().finally(() => {
      this.#writing = undefined;
    });
  }

  async #write(): Promise<void> {
    // What is said in one go makes one trip.
    await undefined;
    while (this.#hasMore && (await this.#batch()));
  }

  /** False: the store is away. */
  async #batch(): Promise<boolean> {
    const { logs, log, bounds, point } = this.#options;
    const [items, removals] = [this.#items, this.#removals];
    [this.#items, this.#removals] = [[], []];
    try {
      faultPoint(`${point}.before`);
      if (items.length > 0) await logs.append(log, items, bounds());
      for (const sequence of removals) await logs.remove(log, sequence);
      faultPoint(`${point}.after`);
      return true;
    } catch {
      if (this.#isStopped) return false;
      // Readers skip what they have read, so it does no harm when part of it was written and is written again.
      this.#items = [...items, ...this.#items].slice(-MOST_WAITING);
      this.#removals = [...removals, ...this.#removals].slice(-MOST_WAITING);
      return false;
    }
  }
}
