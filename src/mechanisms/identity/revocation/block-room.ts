/** How many blocks there may be, and whose: nobody fills the room of others. */
import { type Block, DEFAULT_TENANT, GatewayError } from "../../../contract/index.ts";
import { sourceOf } from "./make-block.ts";

type Pool = "platform" | "tenant" | "token";
type Place = { readonly pool: Pool; readonly tenant: string };

/** Of one tenant, and of all together. The platform's own is one. */
const ROOM: { readonly [Name in Pool]: { readonly each: number; readonly all: number } } = {
  platform: { each: 100_000, all: 100_000 },
  tenant: { each: 1_000, all: 50_000 },
  token: { each: 1_000, all: 50_000 },
};

/** Processes that write at the same time may be a few over it. */
export const MOST_BLOCKS = 250_000;

export class BlockRoom {
  readonly #places = new Map<string, Place>();
  readonly #byTenant: { readonly [Name in Pool]: Map<string, Map<string, Block>> } = {
    platform: new Map(),
    tenant: new Map(),
    token: new Map(),
  };
  readonly #sizes: { [Name in Pool]: number } = { platform: 0, tenant: 0, token: 0 };

  put(block: Block): void {
    const place = this.#places.get(block.id) ?? placeOf(block);
    this.remove(block.id);
    this.#places.set(block.id, place);
    const tenants = this.#byTenant[place.pool];
    const own = tenants.get(place.tenant) ?? new Map<string, Block>();
    tenants.set(place.tenant, own.set(block.id, block));
    this.#sizes[place.pool]++;
  }

  remove(id: string): void {
    const place = this.#places.get(id);
    if (!place) return;
    this.#places.delete(id);
    const tenants = this.#byTenant[place.pool];
    const own = tenants.get(place.tenant);
    own?.delete(id);
    if (own?.size === 0) tenants.delete(place.tenant);
    this.#sizes[place.pool]--;
  }

  /**
   * Which one makes room for this one: undefined where there is room. Throws OVERLOADED where none does. A block that is
   * over makes room for any of its tenant; the oldest of revoked tokens, whose row is long gone, for another of those.
   */
  madeBy(block: Block, now: number): Block | undefined {
    if (this.#places.has(block.id)) return undefined;
    const { pool, tenant } = placeOf(block);
    const own = this.#byTenant[pool].get(tenant);
    const { each, all } = ROOM[pool];
    if ((own?.size ?? 0) < each && this.#sizes[pool] < all) return undefined;
    const [oldest] = own?.values() ?? [];
    const leaving = pool === "token" ? oldest : firstOver(own, now);
    if (leaving) return leaving;
    const message =
      own && own.size >= each
        ? `There are ${each} blocks of ${pool === "platform" ? "the platform" : `the tenant ${tenant}`}; remove some.`
        : `There are ${all} blocks of all tenants together; the platform has to remove some.`;
    throw new GatewayError("OVERLOADED", { message });
  }
}

function placeOf(block: Block): Place {
  const source = sourceOf(block);
  if (source === "token") return { pool: "token", tenant: block.tenant };
  const isPlatforms = source === "platform" || block.tenant === "" || block.tenant === DEFAULT_TENANT;
  return isPlatforms ? { pool: "platform", tenant: DEFAULT_TENANT } : { pool: "tenant", tenant: block.tenant };
}

function firstOver(blocks: ReadonlyMap<string, Block> | undefined, now: number): Block | undefined {
  for (const block of blocks?.values() ?? []) if (block.until <= now) return block;
  return undefined;
}
