/** Upper bounds of the buckets, in ms: a stage takes microseconds, a provider seconds. */
const BOUNDS_MS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 50, 100, 500, 1_000, 5_000, 30_000] as const;
const SECOND_MS = 1_000;

/** How long something took, again and again, as Prometheus wants to know it. */
export class Histogram {
  readonly #counts = new Float64Array(BOUNDS_MS.length + 1);
  #sumMs = 0;

  observe(ms: number): void {
    let bucket = 0;
    while (bucket < BOUNDS_MS.length && ms > (BOUNDS_MS[bucket] as number)) bucket++;
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1;
    this.#sumMs += ms;
  }

  /** `label`: as it stands between the braces. */
  lines(name: string, label: string): string[] {
    let below = 0;
    const buckets = Array.from(this.#counts, (count, index) => {
      below += count;
      const bound = BOUNDS_MS[index];
      const le = bound === undefined ? "+Inf" : String(bound / SECOND_MS);
      return `${name}_bucket{${label},le="${le}"} ${below}`;
    });
    return [...buckets, `${name}_sum{${label}} ${this.#sumMs / SECOND_MS}`, `${name}_count{${label}} ${below}`];
  }
}
