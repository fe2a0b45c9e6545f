import type { FoundTarget, Offer, Target } from "../../contract/index.ts";
import type { OfferSet } from "./offer-set.ts";

/** The templates of an offer as targets of this provider: the same objects each time, so that what is worked out of them can be kept. */
export function templatesOf(provider: string, offer: Offer | undefined): readonly Target[] {
  if (!offer) return NONE;
  // Equal offers of two providers can be one object.
  const byProvider = KNOWN.get(offer) ?? new Map<string, readonly Target[]>();
  KNOWN.set(offer, byProvider);
  const known = byProvider.get(provider);
  if (known) return known;
  const targets = offer.primitives.map(({ name }): Target => ({ provider, kind: "template", name }));
  byProvider.set(provider, targets);
  return targets;
}

/** What it takes to judge a URI of a provider, by the provider's own name of it: its templates only where it is not listed. */
export function foundBy(provider: string, { offers }: OfferSet, uri: string): FoundTarget {
  const target: Target = { provider, kind: "resource", name: uri };
  return namesOf(offers.resource).has(uri) ? { target } : { target, templates: templatesOf(provider, offers.template) };
}

/** Worked out once: it may list very much. */
function namesOf(offer: Offer | undefined): ReadonlySet<string> {
  if (!offer) return NO_NAMES;
  const known = KNOWN_NAMES.get(offer);
  if (known) return known;
  const names = new Set(offer.primitives.map(({ name }) => name));
  KNOWN_NAMES.set(offer, names);
  return names;
}

const NO_NAMES: ReadonlySet<string> = new Set();
const KNOWN_NAMES = new WeakMap<Offer, ReadonlySet<string>>();
const NONE: readonly Target[] = [];
const KNOWN = new WeakMap<Offer, Map<string, readonly Target[]>>();
