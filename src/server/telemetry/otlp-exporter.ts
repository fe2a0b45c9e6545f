/**
 * Sends spans to a collector by OTLP over HTTP, as JSON: in batches, beside the calls. A collector that is slow or gone
 * costs a bounded number of spans, never a call.
 */
import type { Log, Meter, Span, Spans, Timer, Timers } from "../../contract/index.ts";
import { spansText } from "./spans-text.ts";

export type ExporterOptions = {
  /** The collector's address; `/v1/traces` is added to it. */
  readonly endpoint: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly version: string;
  readonly timers: Timers;
  readonly log: Log;
  readonly meter: Meter;
};

const EVERY_MS = 1_000;
const MAX_BATCH = 512;
const MAX_QUEUED = 4_096;
const SEND_MS = 10_000;
const CLOSE_MS = 2_000;

export class OtlpExporter implements Spans {
  readonly #options: ExporterOptions;
  #queue: Span[] = [];
  #timer: Timer | undefined;
  #sending: Promise<void> | undefined;
  #hasFailed = false;
  #isClosed = false;

  constructor(options: ExporterOptions) {
    this.#options = options;
  }

  add(span: Span): void {
    if (this.#isClosed || this.#queue.length >= MAX_QUEUED) return this.#drop("queue full", 1);
    this.#queue.push(span);
    if (this.#queue.length >= MAX_BATCH) this.#send();
    else this.#timer ??= this.#options.timers.after(EVERY_MS, () => this.#send());
  }

  #drop(reason: string, count: number): void {
    this.#options.meter.count("isthmus_spans_dropped_total", reason, count);
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

  async #post(batch: readonly Span[]): Promise<void> {
    const { endpoint, headers, version, log } = this.#options;
    try {
      const response = await fetch(`${endpoint.replace(/\/+$/, "")}/v1/traces`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: spansText(batch, version),
        redirect: "error",
        signal: AbortSignal.timeout(SEND_MS),
      });
      await response.body?.cancel();
      if (!response.ok) throw new Error(`the collector answered ${response.status}`);
      if (this.#hasFailed) log.info("traces are exported again");
      this.#hasFailed = false;
    } catch (cause) {
      this.#drop("collector failed", batch.length);
      // Once per outage: the counter tells the rest.
      if (!this.#hasFailed) log.warn("traces could not be exported", { endpoint, cause });
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
    if (this.#queue.length > 0) this.#drop("closed", this.#queue.length);
    this.#queue = [];
  }
}
