import type { AuditPlace, AuditSearch } from "../../contract/index.ts";
import type { Entry } from "./block.ts";
import { wholeLine } from "./short-lines.ts";

type Kept = { readonly sequence: number; readonly entry: Entry };

const MAX_EVENTS = 4_096;

/** The last events of a gateway that keeps nothing: they can be looked at until it ends, and prove nothing. */
export class RecentBlocks {
  readonly #kept: Kept[] = [];
  #sequence = 0;

  add(entry: Entry): void {
    this.#kept.push({ sequence: ++this.#sequence, entry });
    if (this.#kept.length >= MAX_EVENTS * 2) this.#kept.splice(0, MAX_EVENTS);
  }

  async search({ terms, from, to, before, limit }: AuditSearch): Promise<readonly (AuditPlace & { lines: string })[]> {
    const found: (AuditPlace & { lines: string })[] = [];
    for (let index = this.#kept.length - 1; index >= 0 && found.length < limit; index--) {
      const { sequence, entry } = this.#kept[index] as Kept;
      const isOlder = !before || sequence < before.sequence;
      const hasAll = terms.every((term) => entry.trace === term || entry.terms.includes(term));
      if (isOlder && hasAll && entry.at >= from && entry.at <= to)
        found.push({ at: entry.at, sequence, lines: wholeLine(entry) });
    }
    return found;
  }
}
