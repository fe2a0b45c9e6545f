/** How a call ended, as text that outlives the process: the answer of a named call, the end of a task. */
import { type CallEvent, ERROR_CODES, type ErrorCode, GatewayError, payload } from "../../contract/index.ts";

export type EndOrError = Extract<CallEvent, { type: "end" | "error" }>;

type Written =
  | { readonly outcome: "result" | "fault" | "input" | "task"; readonly body: string; readonly ttlMs?: number }
  | { readonly code: string; readonly message: string; readonly details?: Record<string, unknown> };

export function writeEnd(event: EndOrError): string {
  if (event.type === "end") {
    const { outcome, ttlMs } = event;
    return JSON.stringify({ outcome, body: event.payload.text, ttlMs } satisfies Partial<Written> & object);
  }
  const { code, message, details } = event.error;
  return JSON.stringify({ code, message, details: plainOf(details) });
}

/** Throws on what `writeEnd` did not write. */
export function readEnd(text: string): EndOrError {
  const written = JSON.parse(text) as Written;
  if ("outcome" in written) {
    const { outcome, ttlMs } = written;
    return { type: "end", outcome, payload: payload(written.body), ...(ttlMs !== undefined && { ttlMs }) };
  }
  const { code, message, details = {} } = written;
  if (!isCode(code)) throw new Error(`no such error code: ${code}`);
  return { type: "error", error: new GatewayError(code, { message, details }) };
}

function isCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_CODES, code);
}

/** Only what fronts show: numbers and short texts. */
function plainOf(details: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const plain = Object.entries(details).filter(([, value]) => typeof value === "number" || typeof value === "string");
  return Object.fromEntries(plain);
}
