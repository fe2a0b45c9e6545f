/** What a server has listed last, page by page: a page whose bytes are the same is not read again. */
import type { ListedKind, Offer } from "../../contract/index.ts";
import type { Page } from "./list-page.ts";

type Listed = { readonly pages: readonly Page[]; readonly offer: Offer };
/** A list of which the rest was left out, and why. */
export type CutList = { readonly method: string; readonly reason: string };

export class ListMemory {
  readonly #lists = new Map<ListedKind, Listed>();
  readonly #cuts = new Map<ListedKind, CutList>();

  pagesOf(kind: ListedKind): readonly Page[] {
    return this.#lists.get(kind)?.pages ?? [];
  }

  /** Those of which the rest was left out when they were last read. */
  get cuts(): readonly CutList[] {
    return [...this.#cuts.values()];
  }

  /** Undefined: all of it was read. */
  setCut(kind: ListedKind, cut: CutList | undefined): void {
    if (cut) this.#cuts.set(kind, cut);
    else this.#cuts.delete(kind);
  }

  /** The offer of these pages: the same one as before, where they are the same. */
  offerOf(kind: ListedKind, pages: readonly Page[]): Offer {
    const known = this.#lists.get(kind);
    const isSame = known?.pages.length === pages.length && pages.every((page, place) => page === known.pages[place]);
    if (known && isSame) return known.offer;
    const offer: Offer = {
      kind,
      primitives: pages.length === 1 && pages[0] ? pages[0].primitives : pages.flatMap(({ primitives }) => primitives),
      extras: pages[0]?.extras ?? "",
    };
    this.#lists.set(kind, { pages, offer });
    return offer;
  }
}
