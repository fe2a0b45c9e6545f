/** One provider's primitives of one kind as a view shows them: their list text and their names. */
import {
  type Entry,
  finish,
  jsonText,
  type ListedKind,
  type MappedUris,
  mapSteps,
  type Naming,
  type Offer,
  type Payload,
  type Primitive,
  type Steps,
  type Target,
  type ViewList,
} from "../../contract/index.ts";
import type { CatalogRules } from "./catalog-rules.ts";
import { EntryTexts } from "./entry-texts.ts";
import { claimNames, type NameClaim } from "./name-claims.ts";
import { isHeld, PinRemarks } from "./pin-remarks.ts";
import { templatesOf } from "./template-targets.ts";
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

type PartContent = {
  readonly claims: readonly NameClaim[];
  readonly shown: readonly Shown[];
  readonly byName: ReadonlyMap<string, Shown>;
};

function showNamed({ primitive, name, dotted }: NameClaim, { moved, rules }: PartOptions): Shown {
  return { primitive, name: moved?.get(primitive.name) ?? name, description: rules?.description(dotted) };
}

function showUri(primitive: Primitive, { uris }: PartOptions): Shown {
  const { kind, name } = primitive;
  const isMapped = kind === "template" ? uris?.hasTemplate(name) : uris?.hasResource(name);
  return { primitive, name: uris && isMapped ? uris.prefix + name : name, description: undefined };
}

export class ViewPart implements ViewList {
  readonly extras: string;
  readonly remarks: PinRemarks | undefined;
  /** What it wants its names to be; nothing for primitives that have URIs. */
  readonly claims: readonly NameClaim[];
  readonly kind: ListedKind;
  readonly #options: PartOptions;
  readonly #byName: ReadonlyMap<string, Shown>;
  readonly #shown: readonly Shown[];
  readonly #templates: readonly Target[] | undefined;
  readonly #entries = new Map<string, ViewEntry>();
  #texts: EntryTexts | undefined;
  #older: ViewList | undefined;

  static *of(kind: ListedKind, offer: Offer, options: PartOptions): Steps<ViewPart> {
    const isNamed = kind === "tool" || kind === "prompt";
    // What is held back keeps its name, so that nothing else is reached under it.
    const claims = isNamed ? yield* claimNames(offer.primitives, options) : [];
    const named = claims.filter(({ primitive }) => !isHeld(offer, primitive));
    const shown = isNamed
      ? yield* mapSteps(named, (claim) => showNamed(claim, options))
      : yield* mapSteps(offer.primitives, (primitive) => showUri(primitive, options));
    const byName = new Map<string, Shown>();
    for (const one of shown) {
      if (!byName.has(one.name)) byName.set(one.name, one);
      yield;
    }
    return new ViewPart(kind, offer, options, { claims, shown, byName });
  }

  private constructor(kind: ListedKind, offer: Offer, options: PartOptions, { claims, shown, byName }: PartContent) {
    this.kind = kind;
    this.#options = options;
    this.extras = offer.extras;
    this.claims = claims;
    this.remarks = PinRemarks.of(offer, claims, options.moved);
    this.#shown = shown;
    this.#byName = byName;
    this.#templates = kind === "template" ? templatesOf(options.provider, offer) : undefined;
  }

  /** Nothing else in the view decides about its names. */
  get isItsOwn(): boolean {
    return this.#options.moved === undefined && this.#options.uris === undefined;
  }

  /** The same of another offer, with its texts where those of this one were wanted. */
  *remade(offer: Offer): Steps<ViewPart> {
    const part = yield* ViewPart.of(this.kind, offer, this.#options);
    if (this.#texts) part.#texts = yield* part.#textsOf((primitive) => primitive.definition);
    if (this.#older) part.#older = yield* part.#olderTexts();
    return part;
  }

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
    this.#texts ??= finish(this.#textsOf((primitive) => primitive.definition));
    return this.#texts.slice(from, to);
  }

  get older(): ViewList {
    this.#older ??= finish(this.#olderTexts());
    return this.#older;
  }

  *#olderTexts(): Steps<ViewList> {
    if (!this.#shown.some(({ primitive }) => primitive.older)) return this;
    return yield* this.#textsOf((primitive) => primitive.older ?? primitive.definition);
  }

  *#textsOf(definitionOf: (primitive: Primitive) => Payload): Steps<EntryTexts> {
    const { uris, mapLinks } = this.#options;
    const texts = yield* mapSteps(this.#shown, ({ primitive, name, description }) => {
      let definition = definitionOf(primitive);
      if (name !== primitive.name) definition = definition.splice([NAME_KEYS[this.kind]], jsonText(name));
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
    const entry = new ViewEntry(shown.name, shown.primitive, { ...this.#options, templates: this.#templates });
    this.#entries.set(shown.name, entry);
    return entry;
  }
}
