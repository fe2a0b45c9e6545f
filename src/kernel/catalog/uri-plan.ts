/**
 * Whose URIs are shown as they are. The first provider that has a URI keeps it; another's equal one is shown with the
 * other's segment before it. A provider without a segment keeps all of its own.
 */
import { createHash } from "node:crypto";
import type { MappedUris, Offer } from "../../contract/index.ts";
import type { OfferSet } from "./offer-set.ts";
import { hasLiteralScheme, schemeOf, templateOf, type UriTemplate } from "./uri-template.ts";

/** Each URI in a result is held against templates in at most so many steps: a server may offer very many, and give very many URIs. */
const MAX_STEPS = 200;

type UriMember = { readonly segment: string; readonly set: OfferSet };

export class MemberUris implements MappedUris {
  readonly prefix: string;
  /** Unequal mappings have unequal keys. */
  readonly key: string;
  readonly #resources: ReadonlySet<string>;
  readonly #templates: ReadonlySet<string>;
  readonly #tried: readonly UriTemplate[];
  readonly #ownResources: ReadonlySet<string>;

  constructor(prefix: string, own: OwnUris, mapped: UriNames) {
    this.prefix = prefix;
    this.#resources = mapped.resources;
    this.#templates = mapped.templates;
    this.#tried = within(
      MAX_STEPS,
      own.known.filter(({ text }) => mapped.templates.has(text)),
    );
    this.#ownResources = own.resources;
    const hash = createHash("sha256").update(prefix);
    for (const uri of mapped.resources) hash.update(`\0r${uri}`);
    for (const template of mapped.templates) hash.update(`\0t${template}`);
    this.key = hash.digest("base64");
  }

  hasResource(uri: string): boolean {
    return this.#resources.has(uri);
  }

  hasTemplate(template: string): boolean {
    return this.#templates.has(template);
  }

  /** Also a URI that nobody lists, if it comes from a template that is mapped. */
  has(uri: string): boolean {
    if (this.#resources.has(uri)) return true;
    return !this.#ownResources.has(uri) && this.#tried.some((template) => template.matches(uri));
  }

  /** The provider's own URI, where this one has what stands before the mapped ones. */
  ownOf(shown: string): string | undefined {
    return shown.startsWith(this.prefix) ? shown.slice(this.prefix.length) : undefined;
  }
}

type UriNames = { readonly resources: ReadonlySet<string>; readonly templates: ReadonlySet<string> };

type OwnUris = UriNames & {
  readonly known: readonly UriTemplate[];
  /** Those of its templates; "" stands for any. */
  readonly schemes: ReadonlySet<string>;
};

/** By place of the member: its mapped URIs, or undefined where it has none. */
export function planUris(members: readonly UriMember[]): (MemberUris | undefined)[] {
  if (members.filter(({ set }) => hasUris(set)).length < 2) return [];
  const owners = members.map(({ segment, set }) => ({ segment, own: ownUris(set) }));
  const bySegment = new Map(owners.map(({ segment, own }) => [segment, own]));
  const taken = { resources: new Set<string>(), templates: new Set<string>() };
  const plan = new Map<object, MemberUris>();
  // In file order, but first the one that has no segment to put before its URIs.
  for (const owner of [...owners.filter(hasNoSegment), ...owners]) {
    const { segment, own } = owner;
    if (!hasNoSegment(owner)) {
      const mapped: UriNames = {
        resources: mappedOf(own.resources, taken.resources, bySegment),
        templates: mappedOf(own.templates, taken.templates, bySegment),
      };
      const isMapped = mapped.resources.size + mapped.templates.size > 0;
      if (isMapped) plan.set(owner, new MemberUris(prefixFor(segment, bySegment.get("")), own, mapped));
    }
    for (const uri of own.resources) taken.resources.add(uri);
    for (const template of own.templates) taken.templates.add(template);
  }
  return owners.map((owner) => plan.get(owner));
}

/** The first ones, as far as `steps` allow. */
function within(steps: number, templates: readonly UriTemplate[]): readonly UriTemplate[] {
  let left = steps;
  return templates.filter((template) => {
    left -= template.steps;
    return left >= 0;
  });
}

function hasNoSegment({ segment }: { readonly segment: string }): boolean {
  return segment === "";
}

/** What passes as it is may look like a mapped URI: then one more "+" than it has tells them apart. */
function prefixFor(segment: string, bare: OwnUris | undefined): string {
  let pluses = 1;
  for (const uri of [...(bare?.resources ?? []), ...(bare?.templates ?? [])]) {
    if (!uri.startsWith(`${segment}+`)) continue;
    let end = segment.length;
    while (uri.charAt(end) === "+") end++;
    pluses = Math.max(pluses, end - segment.length + 1);
  }
  return segment + "+".repeat(pluses);
}

function mappedOf(
  own: ReadonlySet<string>,
  taken: ReadonlySet<string>,
  bySegment: ReadonlyMap<string, OwnUris>,
): ReadonlySet<string> {
  return new Set([...own].filter((uri) => taken.has(uri) || looksMapped(uri, bySegment)));
}

/**
 * Whether a provider's own URI may be what a mapped one of a provider in this view would look like. Of templates only the scheme counts:
 * there may be very many URIs and templates, and a URI that is mapped without need is found as well.
 */
function looksMapped(uri: string, bySegment: ReadonlyMap<string, OwnUris>): boolean {
  const plus = uri.indexOf("+");
  const meant = plus > 0 ? bySegment.get(uri.slice(0, plus)) : undefined;
  if (!meant) return false;
  const rest = uri.slice(plus).replace(/^\++/, "");
  if (meant.resources.has(rest)) return true;
  const { schemes } = meant;
  return schemes.has("") || (hasLiteralScheme(rest) ? schemes.has(schemeOf(rest)) : schemes.size > 0);
}

function ownUris({ offers }: OfferSet): OwnUris {
  const known = offers.template?.primitives.map(templateOf) ?? [];
  return {
    resources: namesOf(offers.resource),
    templates: namesOf(offers.template),
    known,
    schemes: new Set(known.map(({ scheme, hasLiteralScheme }) => (hasLiteralScheme ? scheme : ""))),
  };
}

function namesOf(offer: Offer | undefined): ReadonlySet<string> {
  return new Set(offer?.primitives.map(({ name }) => name));
}

function hasUris({ offers }: OfferSet): boolean {
  return (offers.resource?.primitives.length ?? 0) + (offers.template?.primitives.length ?? 0) > 0;
}
