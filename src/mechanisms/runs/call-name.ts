/** The name by which a caller wants a call to be made once, and what tells two calls of one name apart. */
import { type Call, digestJsonOrText, GatewayError, jsonText, ONCE_KEY, type Payload } from "../../contract/index.ts";

/** Members of `_meta` in which a repeat may differ. */
const PASSING = ["progressToken", "traceparent", "tracestate", ONCE_KEY];

/** Throws BAD_CALL. `session`: of a client that has one; keys of two sessions are two keys. */
export function callName(key: string | undefined, session: string | undefined): string {
  if (key === undefined || !/^[\x21-\x7e]{1,256}$/.test(key)) {
    const message = "An idempotency key has 1 to 256 visible ASCII characters.";
    throw new GatewayError("BAD_CALL", { message, details: { reason: "idempotency_key" } });
  }
  return `${session ?? "-"} ${key}`;
}

/** Under which a call is known to every process. Nobody else's call can have the same. */
export function ledgerKey({ principal, target, once }: Call): string {
  return JSON.stringify([principal.id, target.provider, once]);
}

/** Of what is asked: the method and its params, however they are spelled, unless there are too many of them. */
export function callDigest({ method, input }: Call): string {
  const params = input.text === "" ? "null" : lasting(input).text;
  return digestJsonOrText(`[${jsonText(method)},${params}]`);
}

function lasting(input: Payload): Payload {
  if (!input.text.includes('"_meta"')) return input;
  let left = input;
  for (const key of PASSING) left = left.splice(["_meta", key]);
  return /^\{\s*\}$/.test(left.at(["_meta"]) ?? "") ? left.splice(["_meta"]) : left;
}
