import { type Block, identityOf, type Principal } from "../../../contract/index.ts";

type ByKey = Map<string, Block[]>;

/** Blocks by whom they are about. Never changes; a change makes a new one. */
export class BlockIndex {
  readonly size: number;
  readonly #byClient: ByKey = new Map();
  readonly #byUser: ByKey = new Map();
  readonly #byPrincipal: ByKey = new Map();
  readonly #byUpstream: ByKey = new Map();
  readonly #everybody: Block[] = [];

  constructor(blocks: readonly Block[]) {
    this.size = blocks.length;
    for (const block of blocks) this.#add(block);
  }

  #add(block: Block): void {
    switch (block.subject) {
      case "client":
        return add(this.#byClient, block);
      case "user":
        return add(this.#byUser, block);
      case "principal":
        return add(this.#byPrincipal, block);
      case "upstream":
        return add(this.#byUpstream, block);
      case "everybody":
        this.#everybody.push(block);
    }
  }

  /** The first that is about this caller and that `covers`. */
  find(principal: Principal, covers: (block: Block) => boolean): Block | undefined {
    const { tenant, user, client, tokenHash } = identityOf(principal);
    const isMeant = (block: Block) => (block.tenant === "" || block.tenant === tenant) && covers(block);
    return (
      this.#byClient.get(client)?.find(isMeant) ??
      (tokenHash === undefined ? undefined : this.#byClient.get(tokenHash)?.find(isMeant)) ??
      (user === "" ? undefined : this.#byUser.get(user)?.find(isMeant)) ??
      this.#byPrincipal.get(principal.id)?.find(isMeant) ??
      this.#everybody.find(isMeant)
    );
  }

  /** Every one that is about this caller. */
  all(principal: Principal): readonly Block[] {
    const { tenant, user, client, tokenHash } = identityOf(principal);
    const found = [
      ...(this.#byClient.get(client) ?? []),
      ...(tokenHash === undefined || tokenHash === client ? [] : (this.#byClient.get(tokenHash) ?? [])),
      ...(user === "" ? [] : (this.#byUser.get(user) ?? [])),
      ...(this.#byPrincipal.get(principal.id) ?? []),
      ...this.#everybody,
    ];
    return found.filter((block) => block.tenant === "" || block.tenant === tenant);
  }

  upstream(hash: string): readonly Block[] {
    return this.#byUpstream.get(hash) ?? [];
  }
}

function add(map: ByKey, block: Block): void {
  const known = map.get(block.key);
  if (known) known.push(block);
  else map.set(block.key, [block]);
}
