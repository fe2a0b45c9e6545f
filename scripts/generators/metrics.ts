/** Every metric of `/metrics`, from the table of the contract. */
import { CALL_METRICS, COUNTERS, GAUGES, HISTOGRAMS, SERVER_GAUGES } from "../../src/contract/index.ts";
import { type Generator, page, REFERENCE, table } from "./page.ts";

type Row = readonly [name: string, type: string, labels: string, help: string];

function rows(): readonly Row[] {
  const code = (labels: readonly string[]) => labels.map((label) => `\`${label}\``).join(", ");
  const { isthmus_calls_total: calls, isthmus_call_duration_seconds: times } = CALL_METRICS;
  return [
    ["isthmus_calls_total", "counter", code(calls.labels), calls.help],
    ["isthmus_call_duration_seconds", "histogram", code(times.labels), times.help],
    ...Object.entries(HISTOGRAMS).map(([name, { help, label }]): Row => [name, "histogram", code([label]), help]),
    ...Object.entries(COUNTERS).map(([name, { help, label }]): Row => [name, "counter", code([label]), help]),
    ...Object.entries(SERVER_GAUGES).map(([name, help]): Row => [name, "gauge", code(["server"]), help]),
    ...Object.entries(GAUGES).map(([name, help]): Row => [name, "gauge", "", help]),
  ];
}

export const metricsGenerator: Generator = {
  name: "metrics",
  async pages() {
    return [
      page(
        `${REFERENCE}/metrics.md`,
        "# Metrics",
        "What `/metrics` tells, in Prometheus' text format. `server` is the id of a server in the config. `tool` is a name of the catalog: the first 50 tools of a server that are called have numbers of their own, the rest are `other` together; it is empty for what is no tool, and `kind` says what it is then. No label holds a caller's text. What a server has counted is gone with it.",
        table(
          ["metric", "type", "labels", "what it tells"],
          rows().map(([name, ...rest]) => [`\`${name}\``, ...rest]),
        ),
        "Beside them stand those that every program on Node has, by `prom-client`: `process_cpu_seconds_total`, `process_resident_memory_bytes`, `process_open_fds`, `process_max_fds`, `process_start_time_seconds`, `nodejs_eventloop_lag_p99_seconds` and its likes, `nodejs_heap_size_used_bytes`, `nodejs_gc_duration_seconds`. Processor time is counted from the start of the process. The delay of the event loop, and collections, are measured from the first time that somebody asks; what has not been measured since the last time has no sample.",
      ),
    ];
  },
};
