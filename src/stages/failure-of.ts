import { type CallEvent, unambiguousAt, type Verb } from "../contract/index.ts";

/**
 * What a call has failed with after this event: one of our codes, `fault` for the provider's own error, or `tool_error`
 * where a tool answered that it failed. Everything that names the outcome of a call takes it from here.
 */
export function failureOf(event: CallEvent, verb: Verb): string | undefined {
  if (event.type === "error") return event.error.code;
  if (event.type !== "end") return undefined;
  if (event.outcome === "fault") return "fault";
  if (verb !== "call" || event.outcome !== "result") return undefined;
  const { payload } = event;
  const isToolError = SAYS_SO.test(payload.text) && unambiguousAt(payload, ["isError"]) === "true";
  return isToolError ? "tool_error" : undefined;
}

/** Somewhere in it; whether that is the answer's own word is read only then, since this runs on every call. */
const SAYS_SO = /"isError"[ \t\r\n]*:[ \t\r\n]*true/;
