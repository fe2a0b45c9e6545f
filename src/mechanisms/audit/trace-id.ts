import { type Call, decodeString, parseTraceparent } from "../../contract/index.ts";

/** Where a caller may name the trace that a call belongs to, in MGP's order. */
const PLACES: readonly (readonly string[])[] = [
  ["_mgp", "trace_id"],
  ["trace_id"],
  ["_meta", "dev.cloto/mgp", "trace_id"],
];
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const UUID_LENGTH = 36;

/** As a UUID. A call whose caller names none is a trace of its own, named like the call. */
export function traceIdOf(call: Call): string {
  const { text } = call.input;
  if (text.includes('trace_id"')) {
    for (const place of PLACES) {
      const named = decodeString(call.input.at(place));
      if (named !== undefined && UUID.test(named)) return named.toLowerCase();
    }
  }
  const inMeta = text.includes('"traceparent"') ? decodeString(call.input.at(["_meta", "traceparent"])) : undefined;
  return traceIdIn(inMeta ?? call.origin.traceparent) ?? call.id.slice(0, UUID_LENGTH);
}

/** That of a `traceparent`, as a UUID; undefined where there is none. */
export function traceIdIn(traceparent: string | undefined): string | undefined {
  const parent = parseTraceparent(traceparent);
  return parent && dashed(parent.traceId);
}

function dashed(hex: string): string {
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
