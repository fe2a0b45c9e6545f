/** Counts what the table in `contract` names, and renders it as Prometheus text. */
import {
  COUNTERS,
  type CounterName,
  GAUGES,
  type GaugeName,
  HISTOGRAMS,
  type HistogramName,
  type Meter,
} from "../contract/index.ts";
import { Histogram } from "./histogram.ts";

export class Metrics implements Meter {
  readonly #counters = new Map<CounterName, Map<string, number>>();
  readonly #histograms = new Map<HistogramName, Map<string, Histogram>>();
  readonly #gauges = new Map<GaugeName, () => number>();

  count(name: CounterName, label = "", by = 1): void {
    const byLabel = this.#counters.get(name);
    if (byLabel) byLabel.set(label, (byLabel.get(label) ?? 0) + by);
    else this.#counters.set(name, new Map([[label, by]]));
  }

  /** The same one for the same label. */
  histogram(name: HistogramName, label: string): Histogram {
    const byLabel = this.#histograms.get(name) ?? new Map<string, Histogram>();
    this.#histograms.set(name, byLabel);
    const known = byLabel.get(label) ?? new Histogram();
    byLabel.set(label, known);
    return known;
  }

  /** `read` is asked each time the metrics are. */
  gauge(name: GaugeName, read: () => number): void {
    this.#gauges.set(name, read);
  }

  /** Prometheus text format 0.0.4. A counter that never counted is there with its help, so that it can be found. */
  render(): string {
    const lines: string[] = [];
    for (const [name, { help, label }] of Object.entries(COUNTERS)) {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} counter`);
      for (const [value, count] of this.#counters.get(name as CounterName) ?? []) {
        lines.push(value === "" ? `${name} ${count}` : `${name}{${label}="${escapeLabel(value)}"} ${count}`);
      }
    }
    for (const [name, { help, label }] of Object.entries(HISTOGRAMS)) {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} histogram`);
      for (const [value, histogram] of this.#histograms.get(name as HistogramName) ?? []) {
        lines.push(...histogram.lines(name, `${label}="${escapeLabel(value)}"`));
      }
    }
    for (const [name, help] of Object.entries(GAUGES)) {
      const read = this.#gauges.get(name as GaugeName);
      if (read) lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, `${name} ${read()}`);
    }
    return `${lines.join("\n")}\n`;
  }
}

function escapeLabel(value: string): string {
  return value.replace(/[\\"\n]/g, (character) => (character === "\n" ? "\\n" : `\\${character}`));
}
