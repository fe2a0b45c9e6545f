/** What every program tells of itself: processor time, memory, open files, start, and how late its event loop is. */
import { Counter, collectDefaultMetrics, Registry } from "prom-client";

/** Sums of others, under names that only counters may have. */
const MISNAMED = ["handles", "requests", "resources"].map((what) => `nodejs_active_${what}_total`);

const DELAYS = /^nodejs_eventloop_lag_(min|max|mean|stddev|p\d+)_seconds .*\n/gm;
/** What stands for an average of nothing. */
const NO_DELAYS = /^nodejs_eventloop_lag_mean_seconds nan$/im;
/** What stands there before the first one was measured, which is done after each answer for the next. */
const NO_DELAY = /^nodejs_eventloop_lag_seconds 0\n/m;

export class ProcessMetrics {
  readonly #registry = new Registry();

  /** The delay of the event loop is measured from here on; processor time is counted from the start of the process. */
  constructor() {
    const { user, system } = process.cpuUsage();
    collectDefaultMetrics({ register: this.#registry });
    this.#add("process_cpu_user_seconds_total", user / 1e6);
    this.#add("process_cpu_system_seconds_total", system / 1e6);
    this.#add("process_cpu_seconds_total", (user + system) / 1e6);
    for (const name of MISNAMED) this.#registry.removeSingleMetric(name);
  }

  /** What was not measured since the last time has no sample. */
  async render(): Promise<string> {
    const text = (await this.#registry.metrics()).replace(NO_DELAY, "");
    return NO_DELAYS.test(text) ? text.replace(DELAYS, "") : text;
  }

  #add(name: string, value: number): void {
    const metric = this.#registry.getSingleMetric(name);
    if (metric instanceof Counter) metric.inc(value);
  }
}
