import {
  type Block,
  type BlockSubject,
  type CallerNames,
  identityOf,
  type Principal,
} from "../../../contract/index.ts";
import { isPlatformsBlock } from "./make-block.ts";

type ById = Map<string, Block>;
/** What blocks are about. */
type Names = Pick<CallerNames, "id" | "user" | "client"> & { readonly tokenHash?: string | undefined };

/** Blocks by whom they are about. What one more or less costs does not depend on how many there are. */
export class BlockIndex {
  readonly #all: ById = new Map();
  readonly #by: { readonly [Subject in BlockSubject]: Map<string, ById> } = {
    client: new Map(),
    user: new Map(),
    principal: new Map(),
    upstream: new Map(),
    everybody: new Map(),
  };

  get size(): number {
    return this.#all.size;
  }

  /** In the order in which they came. */
  values(): Iterable<Block> {
    return this.#all.values();
  }

  get(id: string): Block | undefined {
    return this.#all.get(id);
  }

  /** In the place of the one with the same id. */
  put(block: Block): void {
    this.#all.set(block.id, block);
    const map = this.#by[block.subject];
    const key = keyOf(block);
    const same = map.get(key);
    if (same) same.set(block.id, block);
    else map.set(key, new Map([[block.id, block]]));
  }

  remove(id: string): void {
    const block = this.#all.get(id);
    if (!block) return;
    this.#all.delete(id);
    const map = this.#by[block.subject];
    const same = map.get(keyOf(block));
    same?.delete(id);
    if (same?.size === 0) map.delete(keyOf(block));
  }

  /** The first that is about this caller and that `covers`. */
  find(principal: Principal, covers: (block: Block) => boolean): Block | undefined {
    for (const block of this.#about(principal)) if (covers(block)) return block;
    return undefined;
  }

  /** Every one that is about this caller. */
  all(principal: Principal): readonly Block[] {
    return [...new Set(this.#about(principal))];
  }

  upstream(hash: string): readonly Block[] {
    return [...(this.#by.upstream.get(hash)?.values() ?? [])];
  }

  /** What the platform says about those who made a token is about the token; what anybody else says, about them alone. */
  *#about(principal: Principal): Iterable<Block> {
    const { tenant, user, client, tokenHash, twinHash, makerNames = [] } = identityOf(principal);
    const { client: byClient, everybody } = this.#by;
    const isOf = (block: Block) => block.tenant === "" || block.tenant === tenant;
    const twin = twinHash === undefined ? undefined : byClient.get(twinHash);
    const own = this.#named({ id: principal.id, user, client, tokenHash });
    for (const blocks of new Set([...own, twin, everybody.get(tenant), everybody.get("")])) {
      for (const block of blocks?.values() ?? []) if (isOf(block)) yield block;
    }
    for (const maker of makerNames) {
      for (const blocks of this.#named(maker)) {
        for (const block of blocks?.values() ?? []) if (isOf(block) && isPlatformsBlock(block)) yield block;
      }
    }
  }

  #named({ id, user, client, tokenHash }: Names): readonly (ById | undefined)[] {
    const { client: byClient, user: byUser, principal: byPrincipal } = this.#by;
    return [
      byClient.get(client),
      tokenHash === undefined ? undefined : byClient.get(tokenHash),
      user === "" ? undefined : byUser.get(user),
      byPrincipal.get(id),
    ];
  }
}

/** Those about everybody are looked at for every call: each tenant has its own of them. */
function keyOf({ subject, key, tenant }: Block): string {
  return subject === "everybody" ? tenant : key;
}
