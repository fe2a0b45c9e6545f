import type { ViewList } from "../../contract/index.ts";

/** Several providers' parts as one list. */
export class JoinedList implements ViewList {
  readonly parts: readonly ViewList[];
  readonly count: number;
  // Result-level members belong to one server's answer; nobody could say whose they are in a list of several.
  readonly extras = "";
  readonly pins: string | undefined;
  #whole: string | undefined;
  #older: JoinedList | undefined;

  constructor(parts: readonly ViewList[]) {
    this.parts = parts;
    this.count = parts.reduce((sum, part) => sum + part.count, 0);
    const pins = parts.map((part) => part.pins).filter((text) => text !== undefined);
    this.pins = pins.length > 0 ? pins.join(",") : undefined;
  }

  get older(): JoinedList {
    this.#older ??= this.shows(this.parts.map((part) => part.older))
      ? this
      : new JoinedList(this.parts.map((part) => part.older));
    return this.#older;
  }

  shows(parts: readonly ViewList[]): boolean {
    return parts.length === this.parts.length && parts.every((part, index) => part === this.parts[index]);
  }

  /** Whether it reads the same, in every dialect. */
  equals(other: JoinedList): boolean {
    return this.#readsLike(other) && this.older.#readsLike(other.older);
  }

  #readsLike(other: JoinedList): boolean {
    if (this.count !== other.count || this.pins !== other.pins) return false;
    return this.slice(0, this.count) === other.slice(0, other.count);
  }

  slice(from: number, to: number): string {
    if (from > 0 || to < this.count) return this.#cut(from, to);
    this.#whole ??= this.#cut(0, this.count);
    return this.#whole;
  }

  #cut(from: number, to: number): string {
    const texts: string[] = [];
    let start = 0;
    for (const part of this.parts) {
      const end = start + part.count;
      if (part.count > 0 && from < end && to > start) texts.push(part.slice(Math.max(0, from - start), to - start));
      start = end;
    }
    return texts.join(",");
  }
}
