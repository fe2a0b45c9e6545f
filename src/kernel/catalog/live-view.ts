/** What one caller sees of one catalog: the parts of its providers, in file order. */
import {
  type Entry,
  type ListedKind,
  type Next,
  type Primitive,
  type ProviderFacts,
  payload,
  type View,
  type ViewList,
} from "../../contract/index.ts";
import type { OfferSet } from "./offer-set.ts";
import { matchesTemplate, schemeOf } from "./uri-template.ts";
import { ViewEntry } from "./view-entry.ts";
import { ViewPart } from "./view-part.ts";

/** One provider in a view: under which segment it stands and what it offers to this caller. */
export type ViewMember = { readonly provider: string; readonly segment: string; readonly set: OfferSet };

export type ViewOptions = {
  readonly version: number;
  readonly members: readonly ViewMember[];
  readonly facts: readonly ProviderFacts[];
  readonly compile: (entry: Entry) => Next;
  /** Finds a list that shows the same parts already, so that equal lists are one object. */
  readonly sameList: (kind: ListedKind, parts: readonly ViewPart[]) => ViewList;
};

export class LiveView implements View {
  readonly version: number;
  readonly providers: readonly ProviderFacts[];
  readonly #options: ViewOptions;
  readonly #bySegment = new Map<string, ViewMember>();
  readonly #lists = new Map<ListedKind, ViewList>();
  #resources: Map<string, ViewPart> | undefined;

  constructor(options: ViewOptions) {
    this.#options = options;
    this.version = options.version;
    this.providers = options.facts;
    for (const member of options.members) this.#bySegment.set(member.segment, member);
  }

  list(kind: ListedKind): ViewList {
    const known = this.#lists.get(kind);
    if (known) return known;
    const { members, sameList } = this.#options;
    const parts = members.map((member) => this.#part(kind, member)).filter((part) => part !== undefined);
    const [part] = parts;
    const list = members.length === 1 && part ? part : sameList(kind, parts);
    this.#lists.set(kind, list);
    return list;
  }

  #part(kind: ListedKind, member: ViewMember): ViewPart | undefined {
    const offer = member.set.offers[kind];
    if (!offer) return undefined;
    const key = `${kind} ${member.provider} ${member.segment}`;
    const known = member.set.parts.get(key);
    if (known) return known;
    const { provider, segment } = member;
    const part = new ViewPart(kind, { provider, segment, offer, compile: this.#options.compile });
    member.set.parts.set(key, part);
    return part;
  }

  resolve(kind: ListedKind, name: string): Entry | undefined {
    if (kind === "resource") return this.#resolveResource(name);
    if (kind === "template") return this.#firstOf(kind, name);
    const dot = name.indexOf(".");
    const member = dot < 0 ? undefined : this.#bySegment.get(name.slice(0, dot));
    const found = member && this.#part(kind, member)?.find(name);
    if (found) return found;
    const bare = this.#bySegment.get("");
    return bare && this.#part(kind, bare)?.find(name);
  }

  #firstOf(kind: ListedKind, name: string): Entry | undefined {
    for (const member of this.#options.members) {
      const entry = this.#part(kind, member)?.find(name);
      if (entry) return entry;
    }
    return undefined;
  }

  #resolveResource(uri: string): Entry | undefined {
    if (!this.#resources) {
      this.#resources = new Map();
      for (const member of this.#options.members) {
        const part = this.#part("resource", member);
        for (const { name } of part?.primitives ?? [])
          if (!this.#resources.has(name)) this.#resources.set(name, part as ViewPart);
      }
    }
    return this.#resources.get(uri)?.find(uri) ?? this.#unlisted(uri);
  }

  /** A URI nobody lists: by template, then by the one provider that owns the scheme. */
  #unlisted(uri: string): Entry | undefined {
    const owner =
      this.#options.members.find((member) =>
        member.set.offers.template?.primitives.some((template) => matchesTemplate(template.name, uri)),
      ) ?? this.#ownerOfScheme(schemeOf(uri));
    return owner && this.#synthetic("resource", owner.provider, uri);
  }

  #ownerOfScheme(scheme: string): ViewMember | undefined {
    const { members } = this.#options;
    const owners = members.filter((member) =>
      [...(member.set.offers.resource?.primitives ?? []), ...(member.set.offers.template?.primitives ?? [])].some(
        (primitive) => schemeOf(primitive.name) === scheme,
      ),
    );
    if (owners.length === 1) return owners[0];
    const withResources = members.filter((member) => member.set.offers.resource ?? member.set.offers.template);
    return owners.length === 0 && members.length === 1 ? withResources[0] : undefined;
  }

  raw(provider: string, method: string): Entry | undefined {
    if (!this.#options.members.some((member) => member.provider === provider)) return undefined;
    return this.#synthetic("operation", provider, method);
  }

  #synthetic(kind: "resource" | "operation", provider: string, name: string): Entry {
    const primitive: Primitive = { kind, name, definition: payload("{}"), repeatable: kind === "resource" };
    return new ViewEntry(name, provider, primitive, this.#options.compile);
  }
}
