/** What checkpoints say was removed because it was old, and whether that is why blocks are missing. */
import type { AuditEdge } from "../../contract/index.ts";

/** As it stands in the text of a checkpoint. `chains`: the last block of each that was removed. */
export type RemovedText = {
  readonly until: string;
  readonly chains: readonly { readonly writer: string; readonly block: number; readonly hash: string }[];
};

/** Blocks that are missing. `previous`: what the block after them says was before it; unset where none follows. */
export type Gap = { readonly writer: string; readonly from: number; readonly to: number; readonly previous?: string };

export class RemovedBlocks {
  readonly #edges = new Map<string, AuditEdge>();
  readonly #later: AuditEdge[] = [];
  #until = "";

  take({ until, chains }: RemovedText): void {
    if (until > this.#until) this.#until = until;
    for (const { writer, block, hash } of chains) {
      if (block > this.lastOf(writer)) this.#edges.set(writer, { writer, number: block, hash });
    }
  }

  /** Said while the trail was read: some of these were still seen. */
  takeLater({ chains }: RemovedText): void {
    this.#later.push(...chains.map(({ writer, block, hash }) => ({ writer, number: block, hash })));
  }

  edgeOf(writer: string): AuditEdge | undefined {
    return this.#edges.get(writer);
  }

  /** -1: nothing of this chain was removed. */
  lastOf(writer: string): number {
    return this.#edges.get(writer)?.number ?? -1;
  }

  /** Whether they went while the trail was read. */
  explains({ writer, to, previous }: Gap): boolean {
    return this.#later.some((edge) => {
      if (edge.writer !== writer) return false;
      return previous === undefined ? edge.number >= to : edge.number === to && edge.hash === previous;
    });
  }

  /** Undefined: nothing was. */
  get total(): { readonly blocks: number; readonly until: string } | undefined {
    if (this.#edges.size === 0) return undefined;
    const blocks = [...this.#edges.values()].reduce((sum, { number }) => sum + number + 1, 0);
    return { blocks, until: this.#until };
  }
}
