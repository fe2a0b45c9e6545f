/** The errors of 2026-07-28, with the status each has over HTTP. */
import type { ErrorBody } from "../../../wire/jsonrpc/index.ts";
import { revision20260728 } from "../../../wire/mcp/2026-07-28/index.ts";

export const INVALID_PARAMS = -32602;
export const METHOD_NOT_FOUND = -32601;
const HEADER_MISMATCH = -32020;
export const CAPABILITY_MISSING = -32021;
const VERSION_UNSUPPORTED = -32022;

/** The same list wherever we say what we speak. */
export const SUPPORTED_VERSIONS: readonly string[] = [revision20260728.version];

export type ModernError = ErrorBody & { readonly status?: number };

export function headerMismatch(header: string, what: string): ModernError {
  return { status: 400, code: HEADER_MISMATCH, message: `Header mismatch: ${header} ${what}` };
}

export function badEnvelope(message: string): ModernError {
  return { status: 400, code: INVALID_PARAMS, message };
}

export function unknownVersion(requested: string): ModernError {
  const data = { supported: SUPPORTED_VERSIONS, requested };
  return { status: 400, code: VERSION_UNSUPPORTED, message: "Unsupported protocol version", data };
}

export function unknownMethod(method: string): ModernError {
  return { status: 404, code: METHOD_NOT_FOUND, message: `Method not found: ${method}` };
}

/** `required` is written as a client would declare it. */
export function capabilityMissing(required: object): ModernError {
  const message = "The client does not declare a capability that this request needs";
  return { status: 400, code: CAPABILITY_MISSING, message, data: { requiredCapabilities: required } };
}

/** One text for tampered, foreign and expired: whoever tries learns nothing. */
export const INVALID_STATE: ModernError = { code: INVALID_PARAMS, message: "Invalid or expired requestState" };

export function stateRefused(reason: "request_mismatch" | "state_used"): ModernError {
  const message =
    reason === "state_used" ? "This requestState was used before" : "This requestState belongs to another request";
  return { code: INVALID_PARAMS, message, data: { reason } };
}
