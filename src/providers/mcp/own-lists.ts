/**
 * What one server lists in sessions of single clients, for each of whom it may list something else. Pages that are the same to
 * the letter are there once. All servers share one budget, of which each may have as much as would then still be free: else one
 * of them could fill the memory of the process with some hundred sessions.
 *
 * Invariant: the server holds the cost of each page in `#pages` once; a page that nobody has any more is not there.
 */
import { type ByteBudget, type Holder, type ListedKind, Turns } from "../../contract/index.ts";
import type { Page, Room } from "./list-page.ts";

/** Beside its text: what it is found by, here and in views. Measured: some 600 to 900 bytes. */
const ENTRY_BYTES = 1024;
/** More different ones are not compared. */
const MAX_COMPARED = 32;

/** How a page is read: within `most`, from an answer of so many bytes. */
export type PageReader = {
  readonly most: Room;
  readonly bytes: number;
  readonly read: (room: Room) => Page | Promise<Page>;
};

/** A page that was not read: nothing of its answer is kept. */
const UNREAD: Page = {
  text: "",
  primitives: [],
  extras: "",
  cursor: undefined,
  leftOut: new Map(),
  isCut: true,
};

type Kept = { count: number; readonly cost: number };

export class OwnLists {
  readonly #budget: ByteBudget;
  readonly #holder: Holder;
  readonly #pages = new Map<ListedKind, Map<Page, Kept>>();
  readonly #turns = new Turns();

  constructor(budget: ByteBudget, server: string) {
    this.#budget = budget;
    this.#holder = { name: `server ${server}` };
  }

  /** A whole page that somebody has. */
  find(kind: ListedKind, isMeant: (page: Page) => boolean): Page | undefined {
    const pages = [...(this.#pages.get(kind)?.keys() ?? [])];
    return pages.slice(-MAX_COMPARED).find((page) => !page.isCut && isMeant(page));
  }

  /**
   * Reads a page, one after another, within what there is room for; whoever reads it has it. `bytes`: of the answer, all of
   * which stays for as long as the page, however little of it was read.
   */
  read(kind: ListedKind, { most, bytes, read }: PageReader): Promise<Page> {
    return this.#turns.take("", async () => {
      const left = this.#budget.freeFor(this.#holder) - bytes;
      if (left < ENTRY_BYTES) return UNREAD;
      const page = await read({ ...most, entries: Math.min(most.entries, Math.floor(left / ENTRY_BYTES)) });
      this.#keep(kind, page, bytes + page.primitives.length * ENTRY_BYTES);
      return page;
    });
  }

  #keep(kind: ListedKind, page: Page, cost: number): void {
    const pages = this.#pages.get(kind) ?? new Map<Page, Kept>();
    this.#pages.set(kind, pages);
    pages.set(page, { count: 1, cost });
    this.#budget.take(this.#holder, cost);
  }

  /** Somebody else has it, too. */
  share(kind: ListedKind, page: Page): void {
    const kept = this.#pages.get(kind)?.get(page);
    if (kept) kept.count++;
  }

  letGo(kind: ListedKind, page: Page): void {
    const pages = this.#pages.get(kind);
    const kept = pages?.get(page);
    if (!kept || --kept.count > 0) return;
    pages?.delete(page);
    this.#budget.giveBack(this.#holder, kept.cost);
  }
}
