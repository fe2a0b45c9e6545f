import { type Call, decodeString, type Payload, parseTraceparent, unambiguousAt } from "../../contract/index.ts";

/** Where a caller may name the trace that a call belongs to, in MGP's order. */
const PLACES: readonly (readonly string[])[] = [
  ["_mgp", "trace_id"],
  ["trace_id"],
  ["_meta", "dev.cloto/mgp", "trace_id"],
];
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const UUID_LENGTH = 36;

/** As a UUID. A call whose caller names none, or names it twice in one place, is a trace of its own, named like the call. */
export function traceIdOf(call: Call): string {
  return namedTrace(call.input) ?? traceIdIn(call.origin.traceparent) ?? call.id.slice(0, UUID_LENGTH);
}

/** The trace that the params of a request name. */
export function namedTrace(input: Payload): string | undefined {
  // One look for all the names: few messages have any.
  if (!input.text.includes("trace")) return undefined;
  for (const place of PLACES) {
    const id = decodeString(unambiguousAt(input, place));
    if (id !== undefined && UUID.test(id)) return id.toLowerCase();
  }
  return traceIdIn(decodeString(unambiguousAt(input, ["_meta", "traceparent"])));
}

/** That of a `traceparent`, as a UUID; undefined where there is none. */
export function traceIdIn(traceparent: string | undefined): string | undefined {
  const parent = parseTraceparent(traceparent);
  return parent && dashed(parent.traceId);
}

function dashed(hex: string): string {
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
