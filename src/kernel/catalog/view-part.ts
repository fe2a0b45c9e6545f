/** One provider's primitives of one kind as a view shows them: their list text and their names. */
import {
  type Entry,
  jsonText,
  type ListedKind,
  type MappedUris,
  type Naming,
  type Offer,
  type Payload,
  type Primitive,
  type ViewList,
} from "../../contract/index.ts";
import type { CatalogRules } from "./catalog-rules.ts";
import { EntryTexts } from "./entry-texts.ts";
import { claimNames, type NameClaim } from "./name-claims.ts";
import { isHeld, PinRemarks } from "./pin-remarks.ts";
import type { MemberUris } from "./uri-plan.ts";
import { type EntryMaker, ViewEntry } from "./view-entry.ts";

export type PartOptions = EntryMaker & {
  readonly segment: string;
  readonly isExact: boolean;
  readonly naming: Naming;
  readonly rules: CatalogRules | undefined;
  readonly uris: MemberUris | undefined;
  /** Names that others in the view have taken, as they are shown instead, by the provider's own name. */
  readonly moved: ReadonlyMap<string, string> | undefined;
  /** Puts mapped URIs into whatever else of a definition leads to them. */
  readonly mapLinks: (definition: Payload, uris: MappedUris) => Payload;
};

/** Where the name of a primitive stands in its definition. */
const NAME_KEYS = { tool: "name", prompt: "name", resource: "uri", template: "uriTemplate" } as const;

type Shown = { readonly primitive: Primitive; readonly name: string; readonly description: string | undefined };

export class ViewPart implements ViewList {
  readonly extras: string;
  readonly remarks: PinRemarks | undefined;
  /** What it wants its names to be; nothing for primitives that have URIs. */
  readonly claims: readonly NameClaim[];
  readonly #kind: ListedKind;
  readonly #options: PartOptions;
  readonly #byName = new Map<string, Shown>();
  readonly #shown: readonly Shown[];
  readonly #entries = new Map<string, ViewEntry>();
  #texts: EntryTexts | undefined;
  #older: ViewList | undefined;

  constructor(kind: ListedKind, offer: Offer, options: PartOptions) {
    this.#kind = kind;
    this.#options = options;
    this.extras = offer.extras;
    const isNamed = kind === "tool" || kind === "prompt";
    // What is held back keeps its name, so that nothing else is reached under it.
    this.claims = isNamed ? claimNames(offer.primitives, options) : [];
    this.remarks = PinRemarks.of(offer, this.claims, options.moved);
    const named = this.claims.filter(({ primitive }) => !isHeld(offer, primitive));
    this.#shown = isNamed ? named.map(this.#showNamed) : offer.primitives.map(this.#showUri);
    for (const shown of this.#shown) if (!this.#byName.has(shown.name)) this.#byName.set(shown.name, shown);
  }

  readonly #showNamed = ({ primitive, name, dotted }: NameClaim): Shown => {
    const { moved, rules } = this.#options;
    return { primitive, name: moved?.get(primitive.name) ?? name, description: rules?.description(dotted) };
  };

  readonly #showUri = (primitive: Primitive): Shown => {
    const { uris } = this.#options;
    const { kind, name } = primitive;
    const isMapped = kind === "template" ? uris?.hasTemplate(name) : uris?.hasResource(name);
    return { primitive, name: uris && isMapped ? uris.prefix + name : name, description: undefined };
  };

  get pins(): string | undefined {
    return this.remarks?.text;
  }

  get count(): number {
    return this.#shown.length;
  }

  /** The names in the order of the list. */
  get names(): readonly string[] {
    return this.#shown.map(({ name }) => name);
  }

  slice(from: number, to: number): string {
    this.#texts ??= this.#textsOf((primitive) => primitive.definition);
    return this.#texts.slice(from, to);
  }

  get older(): ViewList {
    this.#older ??= this.#shown.some(({ primitive }) => primitive.older)
      ? this.#textsOf((primitive) => primitive.older ?? primitive.definition)
      : this;
    return this.#older;
  }

  #textsOf(definitionOf: (primitive: Primitive) => Payload): EntryTexts {
    const { uris, mapLinks } = this.#options;
    const texts = this.#shown.map(({ primitive, name, description }) => {
      let definition = definitionOf(primitive);
      if (name !== primitive.name) definition = definition.splice([NAME_KEYS[this.#kind]], jsonText(name));
      if (description !== undefined) definition = definition.splice(["description"], jsonText(description));
      return uris ? mapLinks(definition, uris).text : definition.text;
    });
    return new EntryTexts(texts, this);
  }

  find(name: string): Entry | undefined {
    const known = this.#entries.get(name);
    if (known) return known;
    const shown = this.#byName.get(name);
    if (!shown) return undefined;
    // Under our own text of the name: the caller's is a part of its message, which would be kept as long as the entry.
    const entry = new ViewEntry(shown.name, shown.primitive, this.#options);
    this.#entries.set(shown.name, entry);
    return entry;
  }
}
