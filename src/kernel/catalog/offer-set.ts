/** What one provider offers to one scope: all kinds together. Equal sets are one object, however many sessions hold them. */
import { createHash } from "node:crypto";
import { LISTED_KINDS, type ListedKind, type Offer, type Steps } from "../../contract/index.ts";
import type { ViewPart } from "./view-part.ts";

export type OfferSet = {
  readonly key: string;
  readonly offers: Partial<Record<ListedKind, Offer>>;
  /** Parts made from this set, by kind and segment: every view that shows the set shares them. */
  readonly parts: Map<string, ViewPart>;
};

export const NO_OFFERS: OfferSet = { key: "none", offers: {}, parts: new Map() };

/** Keeps equal sets equal. Sets nobody holds any more are collected. */
export class OfferSets {
  readonly #sets = new Map<string, WeakRef<OfferSet>>();

  /** The former set with these offers in place of its own of the same kinds. */
  *intern(former: OfferSet, changes: readonly Offer[]): Steps<OfferSet> {
    const offers: Partial<Record<ListedKind, Offer>> = { ...former.offers };
    for (const offer of changes) offers[offer.kind] = offer;
    const key = yield* keyOf(offers);
    if (key === former.key) return former;
    const known = this.#sets.get(key)?.deref();
    if (known) return known;
    const set: OfferSet = { key, offers, parts: new Map() };
    this.#sets.set(key, new WeakRef(set));
    if (this.#sets.size > 64) this.#sweep();
    return set;
  }

  #sweep(): void {
    for (const [key, ref] of this.#sets) if (!ref.deref()) this.#sets.delete(key);
  }
}

/** What is seen of the former set is made ready of the new one, before anybody wants to see it. */
export function* takeOver(former: OfferSet, set: OfferSet): Steps<void> {
  if (former === set) return;
  for (const [key, part] of former.parts) {
    const { kind } = part;
    const offer = set.offers[kind];
    if (!offer || !part.isItsOwn || set.parts.has(key)) continue;
    set.parts.set(key, offer === former.offers[kind] ? part : yield* part.remade(offer));
  }
}

function* keyOf(offers: Partial<Record<ListedKind, Offer>>): Steps<string> {
  const hash = createHash("sha256");
  for (const kind of LISTED_KINDS) {
    const offer = offers[kind];
    if (!offer) continue;
    hash.update(`${kind}\0${offer.extras}\0`);
    for (const primitive of offer.primitives) {
      const { definition, older, outlasts = "" } = primitive;
      hash.update(definition.text, "latin1").update(primitive.repeatable ? "\0r" : "\0");
      if (older) hash.update(older.text, "latin1");
      hash.update(`\0${outlasts}\0`);
      yield;
    }
    if (offer.pins && offer.pins.size > 0) hash.update(`pins\0${JSON.stringify([...offer.pins])}`);
  }
  return hash.digest("base64");
}
