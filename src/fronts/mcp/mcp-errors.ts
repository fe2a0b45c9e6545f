/** Our errors in MCP's words (2025 era). A provider's own errors never come here: they are relayed as they are. */
import {
  ERROR_CODES,
  ERROR_KEY,
  type ErrorCode,
  type GatewayError,
  type JsonFault,
  jsonText,
  payload,
} from "../../contract/index.ts";
import { answerText, type ErrorBody, errorText } from "../../wire/jsonrpc/index.ts";

/** family: on tools/call a result with isError, elsewhere -32603. A number: that JSON-RPC code on every method. */
const MCP_ERRORS = {
  BAD_CALL: -32602,
  NOT_AUTHENTICATED: "family",
  NOT_ALLOWED: "family",
  NO_SUCH_TARGET: "unknown",
  OVERLOADED: "family",
  LIMITED: "family",
  CONFIRMATION_REQUIRED: "family",
  CONSENT_REQUIRED: "family",
  DEADLINE_PASSED: "family",
  CANCELLED: "family",
  PROVIDER_UNREACHABLE: "family",
  PROVIDER_FAILED: "family",
  OUTCOME_UNKNOWN: "family",
  NOT_READY: "family",
  STATE_UNAVAILABLE: "family",
  CONFLICT: "family",
  INTERNAL: "family",
} as const satisfies Record<ErrorCode, number | "family" | "unknown">;

/** What it means that a name is not known, by method; any other method is then itself unknown. */
const UNKNOWN_NAME: ReadonlyMap<string, number> = new Map([
  ["tools/call", -32601],
  ["prompts/get", -32602],
  ["completion/complete", -32602],
  ["resources/read", -32002],
  ["resources/subscribe", -32002],
  ["resources/unsubscribe", -32002],
]);

const INTERNAL_ERROR = -32603;
const METHOD_NOT_FOUND = -32601;
const URL_ELICITATION_REQUIRED = -32042;

export type ErrorParts = { readonly result: object } | { readonly error: ErrorBody };

/** Our own error as what a request is answered with: the family's result, or an error. */
export function errorParts(method: string, error: GatewayError, callId: string): ErrorParts {
  if (MCP_ERRORS[error.code] !== "family" || method !== "tools/call")
    return { error: errorBody(method, error, callId) };
  if (error.details.visit !== undefined) return { error: pageToOpen(error, callId) };
  const content = [{ type: "text", text: error.message }];
  const _meta = { [ERROR_KEY]: factsOf(error, callId) };
  const { gate } = error.details;
  if (gate === undefined) return { result: { content, isError: true, _meta } };
  // MCP-AX: what waits, for clients that know the key, and its id as text for those that only show text.
  const { status, confirmation_id } = gate as { status: string; confirmation_id: string };
  const short = { type: "text", text: JSON.stringify({ status, confirmation_id }) };
  return { result: { content: [...content, short], isError: true, _meta: { ..._meta, "x-mcpax-gate": gate } } };
}

/** For a client that opens pages and cannot be asked to in the middle of a call. */
function pageToOpen(error: GatewayError, callId: string): ErrorBody {
  const { visit, gate } = error.details;
  const data = { elicitations: [visit], "x-mcpax-gate": gate, ...markedFacts(error, callId) };
  return { code: URL_ELICITATION_REQUIRED, message: error.message, data };
}

/** Our own error as an error, also where the family has a result for it. */
export function errorBody(method: string, error: GatewayError, callId: string): ErrorBody {
  const rule = MCP_ERRORS[error.code];
  const code = rule === "family" ? INTERNAL_ERROR : rule === "unknown" ? unknownName(method) : rule;
  return { code, message: error.message, data: markedFacts(error, callId) };
}

/** In an error a server may say the same: what is ours stands under our key as well, where no server's words are let through. */
function markedFacts(error: GatewayError, callId: string): object {
  const facts = factsOf(error, callId);
  return { ...facts, [ERROR_KEY]: facts };
}

function factsOf({ code, details }: GatewayError, callId: string): object {
  const { retryAfterMs, reason, mayRepeat } = details;
  return {
    code,
    callId,
    // Its words say so: the same call asks somebody again.
    retry: mayRepeat === true ? "caller" : ERROR_CODES[code].retry,
    ...(typeof retryAfterMs === "number" && { retryAfterMs }),
    // Of other codes it may be the caller's own text.
    ...(code === "BAD_CALL" && typeof reason === "string" && { reason }),
  };
}

/** The answer to a request that ended with our own error. */
export function errorAnswer(requestId: string, method: string, error: GatewayError, callId: string): string {
  const parts = errorParts(method, error, callId);
  if ("error" in parts) return errorText(requestId, parts.error);
  return answerText(requestId, "result", payload(jsonText(parts.result)));
}

/** The answer to a request that two readers could read differently, below the levels that are checked of every message. */
export function ambiguousAnswer(requestId: string, fault: JsonFault): string {
  return errorText(requestId, { code: -32600, message: fault.message });
}

export function unknownName(method: string): number {
  return UNKNOWN_NAME.get(method) ?? METHOD_NOT_FOUND;
}
