import type { CallEvent } from "../contract/index.ts";

/** What a call has failed with after this event: one of our codes, or `fault` for the provider's own error. */
export function failureOf(event: CallEvent): string | undefined {
  if (event.type === "error") return event.error.code;
  return event.type === "end" && event.outcome === "fault" ? "fault" : undefined;
}
