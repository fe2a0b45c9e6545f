/** How calls end, how long they take, how long they are in each stage, and which one ends those that never reach their provider. */
import type { Meter } from "../contract/index.ts";
import type { FinishedCall } from "../stages/index.ts";
import type { Histogram } from "./histogram.ts";
import type { Metrics } from "./metrics.ts";

export class StageTimes {
  readonly #metrics: Pick<Metrics, "histogram" | "calls"> & Meter;
  readonly #provider: Histogram;
  /** By the list of names that all calls of one pipeline share: nothing is looked up by name when a call ends. */
  readonly #byPipeline = new WeakMap<readonly string[], readonly Histogram[]>();

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
    this.#provider = metrics.histogram("isthmus_stage_duration_seconds", "provider");
  }

  finished({ call, code, startedAt, endedAt }: FinishedCall): void {
    const { timing, target } = call;
    this.#metrics.calls.of(target).finished(code, endedAt - startedAt);
    if (!timing) return;
    const { stages, entered, sentAt } = timing;
    const histograms = this.#byPipeline.get(stages) ?? this.#histogramsOf(stages);
    const leftAt = sentAt > 0 ? sentAt : endedAt;
    for (let index = 0; index < entered.length; index++) {
      const until = index + 1 < entered.length ? entered[index + 1] : leftAt;
      histograms[index]?.observe((until as number) - (entered[index] as number));
    }
    if (sentAt > 0) this.#provider.observe(endedAt - sentAt);
    else if (code !== "ok") this.#metrics.count("isthmus_stage_ends_total", stages[entered.length - 1] ?? "stage");
  }

  #histogramsOf(stages: readonly string[]): readonly Histogram[] {
    const made = stages.map((stage) => this.#metrics.histogram("isthmus_stage_duration_seconds", stage));
    this.#byPipeline.set(stages, made);
    return made;
  }
}
