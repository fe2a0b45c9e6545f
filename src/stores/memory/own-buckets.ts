/** Buckets that tenants have set for themselves. However many there are, they take no room from those of the platform. */
import { MAX_OWN_BUCKETS } from "../../contract/index.ts";
import type { TokenBucket } from "./token-bucket.ts";

export class OwnBuckets {
  readonly #max: number;
  /** By tenant; of each the longest unused is the first. */
  readonly #tenants = new Map<string, Map<string, TokenBucket>>();
  #size = 0;

  /** `max`: of all tenants together. */
  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#size;
  }

  get(tenant: string, key: string): TokenBucket | undefined {
    return this.#tenants.get(tenant)?.get(key);
  }

  /** Behind all others of its tenant. The longest unused goes of whoever has most, where there is no room. */
  put(tenant: string, key: string, bucket: TokenBucket): void {
    const own = this.#tenants.get(tenant) ?? new Map<string, TokenBucket>();
    this.#tenants.set(tenant, own);
    if (own.delete(key)) this.#size--;
    own.set(key, bucket);
    this.#size++;
    if (own.size > Math.min(MAX_OWN_BUCKETS, this.#max)) this.#forgetOldest(tenant, own);
    else if (this.#size > this.#max) this.#forgetOldest(...this.#largest());
  }

  sweep(now: number): void {
    for (const [tenant, own] of this.#tenants) {
      for (const [key, { endsAt }] of own) if (endsAt <= now) this.#forget(tenant, own, key);
    }
  }

  #largest(): [string, Map<string, TokenBucket>] {
    return [...this.#tenants].reduce((most, one) => (one[1].size > most[1].size ? one : most));
  }

  #forgetOldest(tenant: string, own: Map<string, TokenBucket>): void {
    const [oldest] = own.keys();
    if (oldest !== undefined) this.#forget(tenant, own, oldest);
  }

  #forget(tenant: string, own: Map<string, TokenBucket>, key: string): void {
    if (own.delete(key)) this.#size--;
    if (own.size === 0) this.#tenants.delete(tenant);
  }
}
