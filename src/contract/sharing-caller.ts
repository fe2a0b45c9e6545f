/** For whom a call is made, where callers share something that one of them could take from the others. */
import type { Call } from "./call.ts";
import { identityOf, PEER } from "./principal.ts";
import { requesterOf } from "./requester.ts";

/** `user`: empty for a program of nobody's. */
export type SharingCaller = { readonly tenant: string; readonly user: string; readonly id: string };

/** Other processes of the gateway say for whom they call. */
export function sharingCallerOf(call: Call): SharingCaller {
  const { principal } = call;
  const { tenant, user, proof } = identityOf(principal);
  if (principal.id === PEER.id) return { tenant, user: "", id: requesterOf(call) ?? PEER.id };
  // Where nobody was asked who they are, the user is no one's own.
  return { tenant, user: proof === "local" || proof === "none" ? "" : user, id: principal.id };
}
