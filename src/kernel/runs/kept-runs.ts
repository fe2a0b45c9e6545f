import type { Meter, Timer, Timers } from "../../contract/index.ts";
import type { LiveRun } from "./run.ts";

const MAX_RUNS = 10_000;

type KeptRunsOptions = {
  readonly keepMs: number;
  readonly maxBytes: number;
  readonly timers: Timers;
  readonly meter: Meter;
};

/** Ended runs, oldest first, for readers that come back in time. */
export class KeptRuns {
  readonly #options: KeptRunsOptions;
  readonly #runs = new Map<string, { run: LiveRun; bytes: number; timer: Timer }>();
  #bytes = 0;

  constructor(options: KeptRunsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#runs.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(id: string): LiveRun | undefined {
    return this.#runs.get(id)?.run;
  }

  add(run: LiveRun): void {
    this.delete(run.id);
    const timer = this.#options.timers.after(this.#options.keepMs, () => this.delete(run.id));
    const bytes = run.heldBytes;
    this.#runs.set(run.id, { run, bytes, timer });
    this.#bytes += bytes;
    while (this.#runs.size > MAX_RUNS || this.#bytes > this.#options.maxBytes) this.#evictOldest();
  }

  #evictOldest(): void {
    const [oldest] = this.#runs.keys();
    if (oldest === undefined) return;
    this.delete(oldest);
    this.#options.meter.count("isthmus_runs_evicted_total", "full");
  }

  delete(id: string): void {
    const kept = this.#runs.get(id);
    if (!kept) return;
    kept.timer.cancel();
    this.#bytes -= kept.bytes;
    this.#runs.delete(id);
  }

  clear(): void {
    for (const id of [...this.#runs.keys()]) this.delete(id);
  }
}
