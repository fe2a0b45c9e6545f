/**
 * How a gateway tells one behind it whose calls are whose. The one behind knows the gateway before it as one caller; by this name
 * it keeps apart what its callers wait for. It opens nothing: whoever makes one up only sets themselves apart.
 */
import type { Call } from "./call.ts";
import { PEER } from "./principal.ts";

/** In `_meta` of a call. It is ours: only a server that says it is a gateway gets to see it, and each another one. */
export const REQUESTER_KEY = "dev.isthmus/requester";

/** What we call ourselves, towards clients and towards servers. */
export const GATEWAY_NAME = "isthmus";

export const MAX_REQUESTER = 128;

/**
 * Who asks, also through a gateway or a process of ours that asks for many: two calls with the same name are one caller's, as far
 * as is known. Undefined: a process of ours has not said for whom it calls.
 */
export function requesterOf({
  principal,
  origin: { requester },
}: Pick<Call, "principal" | "origin">): string | undefined {
  if (requester !== undefined) return JSON.stringify([principal.id, requester]);
  return principal.id === PEER.id ? undefined : principal.id;
}
