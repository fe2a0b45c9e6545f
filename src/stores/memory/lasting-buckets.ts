/** Buckets that may not be forgotten before their time, of which no tenant can take the room of all others. */
import type { TokenBucket } from "./token-bucket.ts";

/** A tenant has at most one part in so many. The platform's own people have no share of it. */
const FEWEST_TENANTS = 2;

type Lasting = { readonly bucket: TokenBucket; readonly tenant: string | undefined };

export class LastingBuckets {
  readonly #max: number;
  readonly #buckets = new Map<string, Lasting>();
  readonly #counts = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#buckets.size;
  }

  get(key: string): TokenBucket | undefined {
    return this.#buckets.get(key)?.bucket;
  }

  put(key: string, bucket: TokenBucket, tenant: string | undefined): void {
    this.#forget(key);
    this.#buckets.set(key, { bucket, tenant });
    if (tenant !== undefined) this.#counts.set(tenant, this.#countOf(tenant) + 1);
  }

  /** Who has no room for so many more, in words; undefined: there is room. */
  fullFor(wanted: number, tenant: string | undefined): string | undefined {
    if (this.#buckets.size + wanted > this.#max)
      return `The gateway counts ${this.#max} budgets already, and can count no other one.`;
    const share = Math.ceil(this.#max / FEWEST_TENANTS);
    if (tenant === undefined || this.#countOf(tenant) + wanted <= share) return undefined;
    return `The gateway counts ${share} budgets of this tenant already, and can count no other one.`;
  }

  sweep(now: number): void {
    for (const [key, { bucket }] of this.#buckets) if (bucket.endsAt <= now) this.#forget(key);
  }

  #countOf(tenant: string): number {
    return this.#counts.get(tenant) ?? 0;
  }

  #forget(key: string): void {
    const known = this.#buckets.get(key);
    if (known === undefined) return;
    this.#buckets.delete(key);
    if (known.tenant === undefined) return;
    const left = this.#countOf(known.tenant) - 1;
    if (left > 0) this.#counts.set(known.tenant, left);
    else this.#counts.delete(known.tenant);
  }
}
