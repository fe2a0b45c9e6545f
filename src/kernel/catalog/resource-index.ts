/** Finds the provider behind a URI: one that lists it, one whose template it fits, or the only one with its scheme. */
import type { ListedKind } from "../../contract/index.ts";
import type { OfferSet } from "./offer-set.ts";
import type { MemberUris } from "./uri-plan.ts";
import { matchesTemplate, schemeOf } from "./uri-template.ts";

export type IndexMember = {
  readonly set: OfferSet;
  readonly uris: MemberUris | undefined;
  readonly hasResources: boolean;
};

/** Where an unlisted URI leads, what it is called there, and the template that it fits, if it is by one that it was found. */
export type FoundUri<Member> = { readonly member: Member; readonly own: string; readonly template?: string };

export function findUnlisted<Member extends IndexMember>(
  members: readonly Member[],
  uri: string,
): FoundUri<Member> | undefined {
  const withResources = members.filter(({ hasResources }) => hasResources);
  for (const member of withResources) {
    const found = ownByTemplate(member, uri);
    if (found) return { member, ...found };
  }
  const owner = ownerOfScheme(withResources, uri, members.length === 1);
  return owner && { member: owner, own: uri };
}

function ownByTemplate({ set, uris }: IndexMember, uri: string): { own: string; template: string } | undefined {
  const mapped = uris?.ownOf(uri);
  for (const { name } of set.offers.template?.primitives ?? []) {
    const own = uris?.hasTemplate(name) ? mapped : uri;
    if (own !== undefined && matchesTemplate(name, own)) return { own, template: name };
  }
  return undefined;
}

function ownerOfScheme<Member extends IndexMember>(
  members: readonly Member[],
  uri: string,
  isAlone: boolean,
): Member | undefined {
  const scheme = schemeOf(uri);
  const owners = members.filter(({ set }) => hasScheme(set, scheme));
  if (owners.length === 1) return owners[0];
  return owners.length === 0 && isAlone
    ? members.find(({ set }) => set.offers.resource ?? set.offers.template)
    : undefined;
}

const WITH_URIS: readonly ListedKind[] = ["resource", "template"];

function hasScheme({ offers }: OfferSet, scheme: string): boolean {
  return WITH_URIS.some((kind) => offers[kind]?.primitives.some(({ name }) => schemeOf(name) === scheme));
}
