/**
 * What a view shows, whoever looks at it and however its providers are doing. Callers who are offered the same share
 * one layout, so what is worked out here is worked out once for all of them.
 */
import {
  type Entry,
  type FoundTarget,
  finish,
  type ListedKind,
  type MappedUris,
  type Naming,
  type Payload,
  type Primitive,
  payload,
  type ViewList,
} from "../../contract/index.ts";
import type { CatalogRules } from "./catalog-rules.ts";
import type { NameClaim } from "./name-claims.ts";
import type { OfferSet } from "./offer-set.ts";
import { findUnlisted } from "./resource-index.ts";
import { type SettledNames, settleNames } from "./settle-names.ts";
import { foundBy, templatesOf } from "./template-targets.ts";
import { type MemberUris, planUris } from "./uri-plan.ts";
import { type Compiler, ViewEntry } from "./view-entry.ts";
import { ViewPart } from "./view-part.ts";

/** One provider in a view: under which segment it stands and what it offers to this caller. */
export type ViewMember = {
  readonly provider: string;
  readonly segment: string;
  /** Its names and URIs pass exactly as they are. */
  readonly isExact: boolean;
  readonly set: OfferSet;
};

export type LayoutOptions = {
  readonly naming: Naming;
  readonly rules: CatalogRules | undefined;
  readonly members: readonly ViewMember[];
  readonly compiler: Compiler;
  readonly mapLinks: (definition: Payload, uris: MappedUris) => Payload;
  /** Finds a list that shows the same already, so that equal lists are one object. */
  readonly sameList: (kind: ListedKind, parts: readonly ViewPart[]) => ViewList;
  /** A name that the operator gave is taken. */
  readonly onRefused: (claim: NameClaim) => void;
  /** Somebody wants what is held back. */
  readonly onHeld: (kind: ListedKind, name: string) => void;
};

/** A set of offers keeps at most so many parts; who asks for more makes them anew. */
const MAX_PARTS = 64;

type Member = ViewMember & { readonly uris: MemberUris | undefined; readonly hasResources: boolean };

/** The parts of one kind, and whose each name is: by segment where that is enough, else by the whole name. */
type Shown = {
  readonly parts: readonly ViewPart[];
  readonly bySegment: ReadonlyMap<string, ViewPart>;
  readonly byName: ReadonlyMap<string, ViewPart> | undefined;
};

/** What stands in no list: the name it is wanted by, the provider's own, and the template that led to it. */
type Synthetic = { readonly name: string; readonly own: string; readonly template?: string | undefined };

export class ViewLayout {
  readonly #options: LayoutOptions;
  readonly #members: readonly Member[];
  readonly #shown = new Map<ListedKind, Shown>();
  readonly #lists = new Map<ListedKind, ViewList>();
  #uris: Map<string, ViewPart> | undefined;

  constructor(options: LayoutOptions) {
    this.#options = options;
    const hasResources = options.rules?.showsResources ?? true;
    const plan = hasResources ? planUris(options.members) : [];
    this.#members = options.members.map((member, place) => ({ ...member, uris: plan[place], hasResources }));
  }

  /** Whether it was made for the same offers. */
  shows(members: readonly ViewMember[]): boolean {
    const isSame = ({ provider, segment, isExact, set }: ViewMember, place: number) => {
      const own = this.#members[place];
      return own?.set === set && own.provider === provider && own.segment === segment && own.isExact === isExact;
    };
    return members.length === this.#members.length && members.every(isSame);
  }

  /** Stands for which URIs are mapped: equal texts, equal mappings. */
  get mapping(): string {
    return this.#members.map(({ uris }) => uris?.key ?? "").join(" ");
  }

  list(kind: ListedKind): ViewList {
    const known = this.#lists.get(kind);
    if (known) return known;
    const { rules, sameList } = this.#options;
    const { parts } = this.#shownOf(kind);
    const [part] = parts;
    const list = this.#members.length === 1 && part && !rules ? part : sameList(kind, parts);
    this.#lists.set(kind, list);
    return list;
  }

  resolve(kind: ListedKind, name: string): Entry | undefined {
    if (kind === "resource") return this.#resolveResource(name);
    if (kind === "template") return this.#firstOf(kind, name);
    const found = this.#resolveNamed(kind, name);
    if (!found && this.#isHeld(kind, name)) this.#options.onHeld(kind, name);
    return found;
  }

  #resolveNamed(kind: ListedKind, name: string): Entry | undefined {
    const { byName, bySegment } = this.#shownOf(kind);
    if (byName) return byName.get(name)?.find(name);
    const dot = name.indexOf(".");
    const found = dot < 0 ? undefined : bySegment.get(name.slice(0, dot))?.find(name);
    return found ?? bySegment.get("")?.find(name);
  }

  /** Everything in the list, in its order. */
  entries(kind: ListedKind): readonly (Entry | undefined)[] {
    return this.#shownOf(kind).parts.flatMap((part) => part.names.map((name) => part.find(name)));
  }

  /** The names in the order of the list. */
  names(kind: ListedKind): readonly string[] {
    return this.#shownOf(kind).parts.flatMap((part) => part.names);
  }

  /** Whether something would stand under this name if it were not held back. */
  #isHeld(kind: ListedKind, name: string): boolean {
    return this.#shownOf(kind).parts.some(({ remarks }) => remarks?.held.has(name));
  }

  #shownOf(kind: ListedKind): Shown {
    const known = this.#shown.get(kind);
    if (known) return known;
    const members = this.#members.filter((member) => this.#isShown(kind, member));
    const wished = new Map(members.map((member) => [this.#part(kind, member), member]));
    const settled = this.#mayClash(kind) ? this.#settle([...wished.keys()]) : undefined;
    // What had to give up a name is replaced by a part that shows the other one.
    const replaced = new Map<ViewPart, ViewPart>();
    for (const [part, member] of wished) {
      const moved = settled?.moved.get(part);
      if (moved) replaced.set(part, this.#part(kind, member, moved));
    }
    const final = (part: ViewPart) => replaced.get(part) ?? part;
    const shown: Shown = {
      parts: [...wished.keys()].map(final),
      bySegment: new Map([...wished].map(([part, { segment }]) => [segment, final(part)])),
      byName: settled && new Map([...settled.owners].map(([name, part]) => [name, final(part)])),
    };
    this.#shown.set(kind, shown);
    return shown;
  }

  #isShown(kind: ListedKind, { set, hasResources }: Member): boolean {
    return set.offers[kind] !== undefined && (hasResources || kind === "tool" || kind === "prompt");
  }

  /** Dotted names under segments of their own never fall together: nothing has to be looked at. */
  #mayClash(kind: ListedKind): boolean {
    if (kind === "resource" || kind === "template") return false;
    const { naming, rules } = this.#options;
    const hasBare = this.#members.length > 1 && this.#members.some(({ segment }) => segment === "");
    return naming === "underscore" || hasBare || rules?.hasRenames === true;
  }

  #settle(parts: readonly ViewPart[]): SettledNames<ViewPart> {
    const settled = settleNames(parts, this.#options.naming);
    for (const claim of settled.refused) this.#options.onRefused(claim);
    return settled;
  }

  #part(kind: ListedKind, member: Member, moved?: ReadonlyMap<string, string>): ViewPart {
    const { naming, rules, compiler, mapLinks } = this.#options;
    const { provider, segment, isExact, set, uris } = member;
    const key = JSON.stringify([kind, provider, segment, isExact, naming, rules?.key, uris?.key, moved && [...moved]]);
    const known = set.parts.get(key);
    if (known) return known;
    const offer = set.offers[kind] ?? { kind, primitives: [], extras: "" };
    const options = { provider, segment, isExact, naming, rules, uris, moved, compiler, mapLinks };
    const part = finish(ViewPart.of(kind, offer, options));
    const [oldest] = set.parts.keys();
    if (set.parts.size >= MAX_PARTS && oldest !== undefined) set.parts.delete(oldest);
    set.parts.set(key, part);
    return part;
  }

  #firstOf(kind: ListedKind, name: string): Entry | undefined {
    for (const part of this.#shownOf(kind).parts) {
      const entry = part.find(name);
      if (entry) return entry;
    }
    return undefined;
  }

  #resolveResource(uri: string): Entry | undefined {
    this.#uris ??= partsByUri(this.#shownOf("resource").parts);
    return this.#uris.get(uri)?.find(uri) ?? this.#unlisted(uri);
  }

  /** A URI nobody lists. */
  #unlisted(uri: string): Entry | undefined {
    const found = findUnlisted(this.#members, uri);
    return found && this.#synthetic("resource", found.member, { name: uri, own: found.own, template: found.template });
  }

  /** By the provider's own name of it. */
  found(provider: string, uri: string): FoundTarget | undefined {
    const member = this.#members.find((one) => one.provider === provider);
    return member && foundBy(provider, member.set, uri);
  }

  raw(provider: string, method: string): Entry | undefined {
    const member = this.#members.find((one) => one.provider === provider);
    return member && this.#synthetic("operation", member, { name: method, own: method });
  }

  #synthetic(kind: "resource" | "operation", member: Member, { name, own, template }: Synthetic): Entry {
    const primitive: Primitive = { kind, name: own, definition: payload("{}"), repeatable: kind === "resource" };
    const { provider, uris, set } = member;
    const { compiler } = this.#options;
    if (kind === "operation") return new ViewEntry(name, primitive, { provider, uris, compiler });
    const templates = templatesOf(provider, set.offers.template);
    const by = template === undefined ? undefined : templates.find((one) => one.name === template);
    return new ViewEntry(name, primitive, { provider, uris, compiler, template: by, templates });
  }
}

function partsByUri(parts: readonly ViewPart[]): Map<string, ViewPart> {
  const byUri = new Map<string, ViewPart>();
  for (const part of parts) for (const name of part.names) if (!byUri.has(name)) byUri.set(name, part);
  return byUri;
}
