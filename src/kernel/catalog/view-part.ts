/** One provider's primitives of one kind under one segment: their list text and their names. */
import {
  type Entry,
  joinName,
  jsonText,
  type ListedKind,
  type Next,
  type Offer,
  type Payload,
  type Primitive,
  type ViewList,
} from "../../contract/index.ts";
import { EntryTexts } from "./entry-texts.ts";
import { ViewEntry } from "./view-entry.ts";

export type PartOptions = {
  readonly provider: string;
  readonly segment: string;
  readonly offer: Offer;
  readonly compile: (entry: Entry) => Next;
};

export class ViewPart implements ViewList {
  readonly extras: string;
  readonly #options: PartOptions;
  readonly #isNamed: boolean;
  readonly #byName = new Map<string, Primitive>();
  readonly #shown: string[] = [];
  readonly #entries = new Map<string, ViewEntry>();
  #texts: EntryTexts | undefined;
  #older: ViewList | undefined;

  constructor(kind: ListedKind, options: PartOptions) {
    this.#options = options;
    this.extras = options.offer.extras;
    this.#isNamed = kind === "tool" || kind === "prompt";
    for (const primitive of options.offer.primitives) {
      const name = this.#isNamed ? this.#freeName(primitive.name) : primitive.name;
      this.#shown.push(name);
      if (!this.#byName.has(name)) this.#byName.set(name, primitive);
    }
  }

  /** Two names that differ only in characters a segment maps away stay two names. */
  #freeName(own: string): string {
    const { segment } = this.#options;
    const name = joinName(segment, own);
    if (segment === "" || this.#byName.get(name)?.name === own || !this.#byName.has(name)) return name;
    for (let copy = 2; ; copy++) if (!this.#byName.has(`${name}_${copy}`)) return `${name}_${copy}`;
  }

  get count(): number {
    return this.#shown.length;
  }

  get primitives(): readonly Primitive[] {
    return this.#options.offer.primitives;
  }

  slice(from: number, to: number): string {
    this.#texts ??= this.#textsOf((primitive) => primitive.definition);
    return this.#texts.slice(from, to);
  }

  get older(): ViewList {
    this.#older ??= this.primitives.some((primitive) => primitive.older)
      ? this.#textsOf((primitive) => primitive.older ?? primitive.definition)
      : this;
    return this.#older;
  }

  #textsOf(definitionOf: (primitive: Primitive) => Payload): EntryTexts {
    const texts = this.primitives.map((primitive, index) => {
      const shown = this.#shown[index] as string;
      const definition = definitionOf(primitive);
      return shown === primitive.name ? definition.text : definition.splice(["name"], jsonText(shown)).text;
    });
    return new EntryTexts(texts, this.extras);
  }

  find(name: string): Entry | undefined {
    const known = this.#entries.get(name);
    if (known) return known;
    const primitive = this.#byName.get(name);
    if (!primitive) return undefined;
    const entry = new ViewEntry(name, this.#options.provider, primitive, this.#options.compile);
    this.#entries.set(name, entry);
    return entry;
  }
}
