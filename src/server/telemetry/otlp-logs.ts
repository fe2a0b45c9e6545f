import type { AuditSink } from "../../mechanisms/audit/index.ts";
import { OtlpBatches } from "./otlp-batches.ts";
import type { ExporterOptions } from "./otlp-exporter.ts";

/** Audit events as log records, for a collector. */
export class OtlpAuditSink implements AuditSink {
  readonly #batches: OtlpBatches<string>;

  constructor({ version, meter, ...options }: ExporterOptions) {
    this.#batches = new OtlpBatches({
      ...options,
      path: "/v1/logs",
      name: "audit events",
      textOf: (lines) => logsText(lines, version),
      onDropped: (_reason, count) => meter.count("isthmus_audit_dropped_total", "otlp", count),
    });
  }

  take(lines: string): void {
    for (const line of lines.split("\n")) this.#batches.add(line);
  }

  close(): Promise<void> {
    return this.#batches.close();
  }
}

const SEVERITY_INFO = 9;
const SEVERITY_WARN = 13;

function logsText(lines: readonly string[], version: string): string {
  const resource = { attributes: [attribute("service.name", "isthmus"), attribute("service.version", version)] };
  const logRecords = lines.map(recordOf);
  return JSON.stringify({
    resourceLogs: [{ resource, scopeLogs: [{ scope: { name: "isthmus.audit", version }, logRecords }] }],
  });
}

/** What the trail keeps: it was written by us. */
type Written = {
  readonly timestamp: string;
  readonly event_type: string;
  readonly result: string;
  readonly trace_id: string;
};

function recordOf(line: string): object {
  const { timestamp, event_type, result, trace_id } = JSON.parse(line) as Written;
  return {
    timeUnixNano: String(BigInt(Date.parse(timestamp)) * 1_000_000n),
    severityNumber: result === "SUCCESS" || result === "PENDING" ? SEVERITY_INFO : SEVERITY_WARN,
    traceId: trace_id.replaceAll("-", ""),
    body: { stringValue: line },
    attributes: [attribute("event.name", event_type), attribute("isthmus.audit.result", result)],
  };
}

function attribute(key: string, stringValue: string): object {
  return { key, value: { stringValue } };
}
