/** What providers offer goes past a screen before anybody sees it: once per offer, never per call. */
import type { Offer, Scope, Steps } from "../contract/index.ts";
import type { LiveCatalog } from "./catalog/catalog.ts";
import type { Mount } from "./catalog/mount.ts";

export interface OfferScreen {
  /** The offers with what is to be said about them. `profile`: whom they are for; equal for clients that declare the same. */
  screen(provider: string, profile: string, offers: readonly Offer[]): Steps<readonly Offer[]>;
  /** The provider is down: when it is back, it may be another. */
  lost(provider: string): void;
}

type Screening = {
  readonly catalog: LiveCatalog;
  readonly mount: Mount;
  readonly scope: Scope;
  readonly offers: readonly Offer[];
};

/** Nobody sees anything of it before all of it was looked at. */
export function* screenOffers(screen: OfferScreen | undefined, screening: Screening): Steps<void> {
  const { catalog, mount, scope, offers } = screening;
  if (mount.isLeaving) return;
  const isScreened = screen !== undefined && offers.length > 0;
  const screened = isScreened ? yield* screen.screen(mount.provider.id, catalog.profileOf(scope), offers) : offers;
  yield* catalog.offer(mount, scope, screened);
}

/** Judges anew what is offered now. What is held back is still in the offers, so nothing has to be listed again. */
export function* screenAgain(screen: OfferScreen | undefined, catalog: LiveCatalog, mount: Mount): Steps<void> {
  if (!screen) return;
  for (const [scope, { offers: byKind }] of [...mount.offers]) {
    // A client may have left in the meantime, and its offers with it.
    if (mount.offers.has(scope)) yield* screenOffers(screen, { catalog, mount, scope, offers: Object.values(byKind) });
  }
}
