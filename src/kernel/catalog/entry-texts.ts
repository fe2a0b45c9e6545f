import type { ViewList } from "../../contract/index.ts";

/** List entries as ready texts. */
export class EntryTexts implements ViewList {
  readonly extras: string;
  readonly pins: string | undefined;
  readonly #texts: readonly string[];
  #whole: string | undefined;

  constructor(texts: readonly string[], { extras, pins }: Pick<ViewList, "extras" | "pins">) {
    this.#texts = texts;
    this.extras = extras;
    this.pins = pins;
  }

  get count(): number {
    return this.#texts.length;
  }

  get older(): ViewList {
    return this;
  }

  slice(from: number, to: number): string {
    if (from > 0 || to < this.count) return this.#texts.slice(from, to).join(",");
    this.#whole ??= this.#texts.join(",");
    return this.#whole;
  }
}
