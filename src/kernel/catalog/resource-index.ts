/**
 * Finds the provider behind a URI that nobody lists. What servers list and which templates they have is whatever they like, so the order of the
 * config decides between them: the first one keeps it that has a template of the URI's scheme which the URI fits, or lists others of
 * its scheme. One that only lists other hosts of the scheme gives way to a later one that says more exactly that it is meant.
 */
import type { Offer } from "../../contract/index.ts";
import type { OfferSet } from "./offer-set.ts";
import type { MemberUris } from "./uri-plan.ts";
import { hostOf, MAX_URI_LENGTH, schemeOf, templateOf, type UriTemplate } from "./uri-template.ts";

export type IndexMember = {
  readonly set: OfferSet;
  readonly uris: MemberUris | undefined;
  readonly hasResources: boolean;
};

/** Where an unlisted URI leads, what it is called there, and the template that it fits, if it is by one that it was found. */
export type FoundUri<Member> = { readonly member: Member; readonly own: string; readonly template?: string };

/** By what a server has a URI. scheme: it lists others of its scheme, all of other hosts. open: a template that fits every host, or nearly. */
type Claim = "scheme" | "open" | "exact";

export function findUnlisted<Member extends IndexMember>(
  members: readonly Member[],
  uri: string,
): FoundUri<Member> | undefined {
  // Rules about templates must hold for whatever one leads to: what is held against none leads nowhere.
  if (uri.length > MAX_URI_LENGTH) return undefined;
  const withResources = members.filter(({ hasResources }) => hasResources);
  // What stands before a mapped URI was put there by us: it says whose it is.
  for (const member of withResources) {
    const mapped = byMappedTemplate(member, uri);
    if (mapped) return { member, ...mapped };
  }
  const isAlone = members.length === 1;
  const owner = ownerOf(withResources, uri);
  for (const member of owner ? [owner] : withResources) {
    const template = byTemplate(member, uri, isAlone || listsScheme(member, uri));
    if (template !== undefined) return { member, own: uri, template };
  }
  const member = owner ?? onlyOfScheme(withResources, uri, isAlone);
  return member && { member, own: uri };
}

function ownerOf<Member extends IndexMember>(members: readonly Member[], uri: string): Member | undefined {
  let owner: { member: Member; claim: Claim } | undefined;
  for (const member of members) {
    // What comes later has no say: nor shall its templates cost those anything who read here.
    if (owner && owner.claim !== "scheme") break;
    const claim = claimOf(member, uri);
    if (claim && (!owner || claim === "exact")) owner = { member, claim };
  }
  return owner?.member;
}

function claimOf(member: IndexMember, uri: string): Claim | undefined {
  const hosts = hostsOf(member.set.offers.resource)?.get(schemeOf(uri));
  if (hosts?.has(hostOf(uri))) return "exact";
  let claim: Claim | undefined = hosts && "scheme";
  for (const one of templatesOf(member).shown) {
    if (!one.hasLiteralScheme || !one.matches(uri)) continue;
    if (one.isExact(uri)) return "exact";
    claim = "open";
  }
  return claim;
}

/** Its templates that are shown as they are, and the mapped ones. Worked out once. */
function templatesOf(member: IndexMember): MemberTemplates {
  const known = KNOWN_TEMPLATES.get(member);
  if (known) return known;
  const { set, uris } = member;
  const all = set.offers.template?.primitives.map(templateOf) ?? [];
  const { mapped = [], shown = [] } = Object.groupBy(all, ({ text }) => (uris?.hasTemplate(text) ? "mapped" : "shown"));
  const templates = { shown, mapped };
  KNOWN_TEMPLATES.set(member, templates);
  return templates;
}

type MemberTemplates = { readonly shown: readonly UriTemplate[]; readonly mapped: readonly UriTemplate[] };

const KNOWN_TEMPLATES = new WeakMap<IndexMember, MemberTemplates>();

/** `isOwn`: it may be by a template that could be of any scheme. */
function byTemplate(member: IndexMember, uri: string, isOwn: boolean): string | undefined {
  return templatesOf(member).shown.find((one) => (isOwn || one.hasLiteralScheme) && one.matches(uri))?.text;
}

function byMappedTemplate(member: IndexMember, uri: string): { own: string; template: string } | undefined {
  const own = member.uris?.ownOf(uri);
  if (own === undefined) return undefined;
  const template = templatesOf(member).mapped.find((one) => one.matches(own));
  return template && { own, template: template.text };
}

/** The hosts by scheme that it lists. Worked out once: it may list very much. */
function hostsOf(offer: Offer | undefined): ReadonlyMap<string, ReadonlySet<string>> | undefined {
  if (!offer) return undefined;
  const known = KNOWN_HOSTS.get(offer);
  if (known) return known;
  const hosts = new Map<string, Set<string>>();
  for (const { name } of offer.primitives) {
    const scheme = schemeOf(name);
    const ofScheme = hosts.get(scheme) ?? new Set<string>();
    hosts.set(scheme, ofScheme.add(hostOf(name)));
  }
  KNOWN_HOSTS.set(offer, hosts);
  return hosts;
}

const KNOWN_HOSTS = new WeakMap<Offer, ReadonlyMap<string, ReadonlySet<string>>>();

function listsScheme({ set }: IndexMember, uri: string): boolean {
  return hostsOf(set.offers.resource)?.has(schemeOf(uri)) ?? false;
}

/** Nobody has a claim: the only one with templates of its scheme, though it fits none. */
function onlyOfScheme<Member extends IndexMember>(
  members: readonly Member[],
  uri: string,
  isAlone: boolean,
): Member | undefined {
  const scheme = schemeOf(uri);
  const owners = members.filter((member) => {
    const { shown, mapped } = templatesOf(member);
    return shown.some((one) => one.scheme === scheme) || mapped.some((one) => one.scheme === scheme);
  });
  if (owners.length === 1) return owners[0];
  return owners.length === 0 && isAlone
    ? members.find(({ set }) => set.offers.resource ?? set.offers.template)
    : undefined;
}
