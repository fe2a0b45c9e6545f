/** Counts what the table in `contract` names, and renders it as Prometheus text. */
import {
  COUNTERS,
  type CounterName,
  GAUGES,
  type GaugeName,
  HISTOGRAMS,
  type HistogramName,
  type Meter,
  SERVER_GAUGES,
  type ServerGaugeName,
} from "../contract/index.ts";
import { CallMeters } from "./call-meters.ts";
import { Histogram, STAGE_BOUNDS_MS } from "./histogram.ts";
import { labelText } from "./label-text.ts";
import { OnDemand } from "./on-demand.ts";

export class Metrics implements Meter {
  readonly #counters = new Map<CounterName, Map<string, number>>();
  readonly #histograms = new Map<HistogramName, Map<string, Histogram>>();
  readonly #gauges = new Map<GaugeName, () => number>();
  readonly #serverGauges = new Map<ServerGaugeName, () => Readonly<Record<string, number>>>();
  readonly calls = new CallMeters();
  /** Not loaded before somebody asks. */
  readonly #process = new OnDemand(async () => {
    const { ProcessMetrics } = await import("./process-metrics.ts");
    return new ProcessMetrics();
  });

  count(name: CounterName, label = "", by = 1): void {
    const byLabel = this.#counters.get(name);
    if (byLabel) byLabel.set(label, (byLabel.get(label) ?? 0) + by);
    else this.#counters.set(name, new Map([[label, by]]));
  }

  /** The same one for the same label. */
  histogram(name: HistogramName, label: string): Histogram {
    const byLabel = this.#histograms.get(name) ?? new Map<string, Histogram>();
    this.#histograms.set(name, byLabel);
    const known = byLabel.get(label) ?? new Histogram(STAGE_BOUNDS_MS);
    byLabel.set(label, known);
    return known;
  }

  /** `read` is asked each time the metrics are. */
  gauge(name: GaugeName, read: () => number): void {
    this.#gauges.set(name, read);
  }

  /** For each server that there is. */
  serverGauge(name: ServerGaugeName, read: () => Readonly<Record<string, number>>): void {
    this.#serverGauges.set(name, read);
  }

  /** The server is not there any more, and neither are its numbers. */
  forget(server: string): void {
    this.calls.forget(server);
    for (const [name, byLabel] of this.#counters) if (COUNTERS[name].label === "server") byLabel.delete(server);
  }

  /** Everything, with what the process tells of itself. */
  async renderAll(): Promise<string> {
    const own = await this.#process.get();
    return this.render() + (await own.render());
  }

  /** Prometheus text format 0.0.4. A counter that never counted is there with its help, so that it can be found. */
  render(): string {
    const lines: string[] = [...this.calls.lines()];
    for (const [name, { help, label }] of Object.entries(COUNTERS)) {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} counter`);
      for (const [value, count] of this.#counters.get(name as CounterName) ?? []) {
        lines.push(value === "" ? `${name} ${count}` : `${name}{${labelText(label, value)}} ${count}`);
      }
    }
    for (const [name, { help, label }] of Object.entries(HISTOGRAMS)) {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} histogram`);
      for (const [value, histogram] of this.#histograms.get(name as HistogramName) ?? []) {
        lines.push(...histogram.lines(name, labelText(label, value)));
      }
    }
    for (const [name, help] of Object.entries(GAUGES)) {
      const read = this.#gauges.get(name as GaugeName);
      if (read) lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, `${name} ${read()}`);
    }
    for (const [name, help] of Object.entries(SERVER_GAUGES)) {
      const read = this.#serverGauges.get(name as ServerGaugeName);
      if (!read) continue;
      const values = Object.entries(read());
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} gauge`);
      lines.push(...values.map(([server, value]) => `${name}{${labelText("server", server)}} ${value}`));
    }
    return `${lines.join("\n")}\n`;
  }
}
