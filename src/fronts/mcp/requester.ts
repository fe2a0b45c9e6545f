/** Where a gateway before us names the one of its callers that a call is of. */
import { decodeString, GatewayError, MAX_REQUESTER, payload, REQUESTER_KEY } from "../../contract/index.ts";

/** Undefined: it names none. `meta` is JSON text. Throws BAD_CALL. */
export function requesterIn(meta: string | undefined): string | undefined {
  // Its key may be written with escapes.
  if (meta === undefined || !(meta.includes(REQUESTER_KEY) || meta.includes("\\"))) return undefined;
  const literal = payload(meta).at([REQUESTER_KEY]);
  if (literal === undefined) return undefined;
  const requester = decodeString(literal);
  if (requester === undefined || requester === "" || requester.length > MAX_REQUESTER) {
    const message = `_meta["${REQUESTER_KEY}"] must be a string of 1 to ${MAX_REQUESTER} characters.`;
    throw new GatewayError("BAD_CALL", { message, details: { reason: "requester" } });
  }
  return requester;
}

/** The text of a `_meta` object without the name; undefined: there is nothing else in it. */
export function withoutRequester(meta: string): string | undefined {
  if (requesterIn(meta) === undefined) return meta;
  const { text } = payload(meta).splice([REQUESTER_KEY]);
  return /^\{\s*\}$/.test(text) ? undefined : text;
}
