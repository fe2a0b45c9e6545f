/** What a server has listed last, page by page: a page whose bytes are the same is not read again. */
import type { ListedKind, Offer } from "../../contract/index.ts";
import type { Page } from "./list-page.ts";
import type { OwnLists, PageReader } from "./own-lists.ts";

type Listed = { readonly pages: readonly Page[]; readonly offer: Offer };
/** A list of which the rest was left out, and why. */
export type CutList = { readonly method: string; readonly reason: string };

// Invariant: of `own`, this has each page of `#lists` once, and each page that was read and is neither offered nor dropped.
export class ListMemory {
  readonly #lists = new Map<ListedKind, Listed>();
  readonly #cuts = new Map<ListedKind, CutList>();
  readonly #own: OwnLists | undefined;
  #isClosed = false;

  /** `own`: of a session of a single client, what its server lists in all of these. */
  constructor(own?: OwnLists) {
    this.#own = own;
  }

  pagesOf(kind: ListedKind): readonly Page[] {
    return this.#lists.get(kind)?.pages ?? [];
  }

  /** The page at this place last time, or that another session has, where it `isMeant`. To be offered or dropped. */
  known(kind: ListedKind, place: number, isMeant: (page: Page) => boolean): Page | undefined {
    const last = this.pagesOf(kind)[place];
    const page = last && isMeant(last) ? last : this.#own?.find(kind, isMeant);
    if (page) this.#own?.share(kind, page);
    return page;
  }

  /** Reads a page as far as there is room for it. To be offered or dropped. */
  read(kind: ListedKind, reader: PageReader): Page | Promise<Page> {
    return this.#own ? this.#own.read(kind, reader) : reader.read(reader.most);
  }

  drop(kind: ListedKind, pages: readonly Page[]): void {
    for (const page of pages) this.#own?.letGo(kind, page);
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
    if (known && isSame) {
      this.drop(kind, pages);
      return known.offer;
    }
    const offer: Offer = {
      kind,
      primitives: pages.length === 1 && pages[0] ? pages[0].primitives : pages.flatMap(({ primitives }) => primitives),
      extras: pages[0]?.extras ?? "",
    };
    if (this.#isClosed) this.drop(kind, pages);
    else {
      this.drop(kind, known?.pages ?? []);
      this.#lists.set(kind, { pages, offer });
    }
    return offer;
  }

  /** Nothing is listed any more, and nobody sees what was. Safe to call twice. */
  close(): void {
    this.#isClosed = true;
    for (const [kind, { pages }] of this.#lists) this.drop(kind, pages);
    this.#lists.clear();
  }
}
