import type { Log, Meter, Span, Spans, Timers } from "../../contract/index.ts";
import { OtlpBatches } from "./otlp-batches.ts";
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

/** Spans, for a collector. */
export class OtlpExporter implements Spans {
  readonly #batches: OtlpBatches<Span>;

  constructor({ version, meter, ...options }: ExporterOptions) {
    this.#batches = new OtlpBatches({
      ...options,
      path: "/v1/traces",
      name: "traces",
      textOf: (spans) => spansText(spans, version),
      onDropped: (reason, count) => meter.count("isthmus_spans_dropped_total", reason, count),
    });
  }

  add(span: Span): void {
    this.#batches.add(span);
  }

  /** Sends what is left, for a bounded time. Safe to call twice. */
  close(): Promise<void> {
    return this.#batches.close();
  }
}
