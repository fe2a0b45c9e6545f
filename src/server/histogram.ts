/** Upper bounds of the buckets, in ms: a stage takes microseconds, a provider seconds. */
export const STAGE_BOUNDS_MS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 50, 100, 500, 1_000, 5_000, 30_000] as const;
/** Of whole calls. There is a row of them for each tool. */
export const CALL_BOUNDS_MS = [1, 5, 10, 50, 100, 500, 1_000, 5_000, 30_000] as const;
const SECOND_MS = 1_000;

/** How long something took, again and again, as Prometheus wants to know it. */
export class Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: Float64Array;
  #sumMs = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  observe(ms: number): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && ms > (bounds[bucket] as number)) bucket++;
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1;
    this.#sumMs += ms;
  }

  /** `label`: one or more, as they stand between the braces. */
  lines(name: string, label: string): string[] {
    let below = 0;
    const buckets = Array.from(this.#counts, (count, index) => {
      below += count;
      const bound = this.#bounds[index];
      const le = bound === undefined ? "+Inf" : String(bound / SECOND_MS);
      return `${name}_bucket{${label},le="${le}"} ${below}`;
    });
    return [...buckets, `${name}_sum{${label}} ${this.#sumMs / SECOND_MS}`, `${name}_count{${label}} ${below}`];
  }
}
