/** What providers offer goes past a screen before anybody sees it: once per offer, never per call. */
import type { Offer, Scope } from "../contract/index.ts";
import type { LiveCatalog } from "./catalog/catalog.ts";
import type { Mount } from "./catalog/mount.ts";

export interface OfferScreen {
  /** The offers with what is to be said about them. `profile`: whom they are for; equal for clients that declare the same. */
  screen(provider: string, profile: string, offers: readonly Offer[]): readonly Offer[];
  /** The provider is down: when it is back, it may be another. */
  lost(provider: string): void;
}

type Screening = {
  readonly catalog: LiveCatalog;
  readonly mount: Mount;
  readonly scope: Scope;
  readonly offers: readonly Offer[];
};

export function screenOffers(
  screen: OfferScreen | undefined,
  { catalog, mount, scope, offers }: Screening,
): readonly Offer[] {
  if (!screen || offers.length === 0) return offers;
  return screen.screen(mount.provider.id, catalog.profileOf(scope), offers);
}

/** Judges anew what is offered now. What is held back is still in the offers, so nothing has to be listed again. */
export function screenAgain(screen: OfferScreen | undefined, catalog: LiveCatalog, mounts: readonly Mount[]): void {
  if (!screen) return;
  for (const mount of mounts) {
    for (const [scope, { offers: byKind }] of [...mount.offers]) {
      const offers = Object.values(byKind);
      catalog.offer(mount, scope, screenOffers(screen, { catalog, mount, scope, offers }));
    }
  }
}
