/** Where somebody is blocked: at one server, or from one primitive. What fits nothing would be taken for a block that holds. */
import type { Principal } from "../../../contract/index.ts";
import type { Revocation } from "./said-revocation.ts";

export type BlockedPlace = { readonly server?: string | undefined; readonly primitive?: string | undefined };

/** Why a block of a place would hold for nothing. */
export type PlaceFault = {
  readonly field: "server" | "primitive";
  /** What to write instead. */
  readonly message: string;
  /** The same, where only one thing can be meant. */
  readonly meant?: BlockedPlace;
  /** It never will: with other faults the block holds as soon as there is something of that name. */
  readonly isPattern?: boolean;
};

/** What is known of servers and of what they offer. */
export type BlockedPlaces = {
  faultOf(by: Principal, place: BlockedPlace): PlaceFault | undefined;
  /** Whether there is such a primitive now; undefined: it is about none in particular, or that cannot be told. */
  isOffered(by: Principal, place: BlockedPlace): boolean | undefined;
};

/** At most: the server, and then its primitive. */
const STEPS = 3;

/** What a machine has signed, at the place that it means. `fault`: what is still wrong with it. */
export function atPlaceMeant(said: Revocation, faultOf: (place: BlockedPlace) => PlaceFault | undefined) {
  const { server, primitive, ...rest } = said;
  let place: BlockedPlace = { server, primitive };
  let fault = faultOf(place);
  for (let step = 0; step < STEPS && fault?.meant !== undefined; step++) {
    place = fault.meant;
    fault = faultOf(place);
  }
  const meant: Revocation = {
    ...rest,
    ...(place.server !== undefined && { server: place.server }),
    ...(place.primitive !== undefined && { primitive: place.primitive }),
  };
  const isSame = place.server === server && place.primitive === primitive;
  return { meant: isSame ? said : meant, fault };
}
