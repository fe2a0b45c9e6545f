/** Where a client of either era names a call that is to be made once: in `_meta`, or in a header. */
import { decodeString, GatewayError, ONCE_KEY, payload } from "../../contract/index.ts";
import { callName } from "../../mechanisms/runs/index.ts";
import type { Session } from "../../mechanisms/sessions/index.ts";
import type { Posted } from "./posted.ts";

/** `isInMeta`: it has to be taken out there, because it is for us alone. */
export type Once = { readonly name: string; readonly isInMeta: boolean };

/** Undefined: the call has no name. `meta` is JSON text. Throws BAD_CALL. */
export function onceOf(meta: string | undefined, posted: Posted | undefined, session: Session | undefined) {
  const header = posted?.headers["idempotency-key"];
  const literal = meta === undefined ? undefined : literalIn(meta);
  if (header === undefined && literal === undefined) return undefined;
  const said = literal === undefined ? undefined : (decodeString(literal) ?? "");
  if (header !== undefined && said !== undefined && said !== header) {
    const message = `Idempotency-Key and _meta["${ONCE_KEY}"] differ.`;
    throw new GatewayError("BAD_CALL", { message, details: { reason: "idempotency_key" } });
  }
  const once: Once = { name: callName(said ?? header, session?.id), isInMeta: literal !== undefined };
  return once;
}

/** The text of a `_meta` object without the name; undefined: there is nothing else in it. */
export function withoutOnce(meta: string): string | undefined {
  if (literalIn(meta) === undefined) return meta;
  const { text } = payload(meta).splice([ONCE_KEY]);
  return /^\{\s*\}$/.test(text) ? undefined : text;
}

function literalIn(meta: string): string | undefined {
  // Its key may be written with escapes.
  return meta.includes(ONCE_KEY) || meta.includes("\\") ? payload(meta).at([ONCE_KEY]) : undefined;
}
