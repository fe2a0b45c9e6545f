import type { ViewList } from "../../contract/index.ts";
import type { ViewPart } from "./view-part.ts";

/** Several providers' parts as one list. */
export class JoinedList implements ViewList {
  readonly parts: readonly ViewPart[];
  readonly count: number;
  // Result-level members belong to one server's answer; nobody could say whose they are in a list of several.
  readonly extras = "";
  #whole: string | undefined;

  constructor(parts: readonly ViewPart[]) {
    this.parts = parts;
    this.count = parts.reduce((sum, part) => sum + part.count, 0);
  }

  shows(parts: readonly ViewPart[]): boolean {
    return parts.length === this.parts.length && parts.every((part, index) => part === this.parts[index]);
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
