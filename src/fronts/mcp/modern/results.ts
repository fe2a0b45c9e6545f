/** Results and errors as 2026-07-28 has them. */
import {
  type CallEvent,
  decodeString,
  ERROR_CODES,
  GatewayError,
  jsonText,
  type Payload,
  payload,
} from "../../../contract/index.ts";
import { answerText, errorText } from "../../../wire/jsonrpc/index.ts";
import { SERVER_INFO } from "../../../wire/mcp/2026-07-28/index.ts";
import type { FrontContext } from "../front-context.ts";
import { errorParts } from "../mcp-errors.ts";
import { CAPABILITY_MISSING, INVALID_PARAMS, METHOD_NOT_FOUND, type ModernError } from "./modern-errors.ts";

const RESOURCE_NOT_FOUND = -32002;

/** A result under our name. cached: it is of a kind that says how long it holds, and ours never do. */
export function ownResult(front: FrontContext, result: Payload, kind: "plain" | "cached"): Payload {
  let own = withDefault(result, "resultType", '"complete"');
  if (kind === "cached") own = withDefault(withDefault(own, "ttlMs", "0"), "cacheScope", '"private"');
  return own.splice(["_meta", SERVER_INFO], infoOf(front));
}

const INFO = new WeakMap<FrontContext, string>();

function infoOf(front: FrontContext): string {
  const known = INFO.get(front);
  if (known !== undefined) return known;
  const text = jsonText(front.config.serverInfo);
  INFO.set(front, text);
  return text;
}

function withDefault(result: Payload, key: string, json: string): Payload {
  return result.at([key]) === undefined ? result.splice([key], json) : result;
}

/** The request that an end answers. */
export type Answered = {
  readonly requestId: string;
  readonly method: string;
  /** What it names, as the client does. */
  readonly name: string;
  /** The server lists what is named; otherwise it may not exist. */
  readonly isListed: boolean;
  readonly callId: string;
};

/** `error`: ours, where it was that. */
export type FinalAnswer = { readonly text: string; readonly status: number; readonly error?: GatewayError };

export function errorFinal(requestId: string, { status = 200, ...error }: ModernError): FinalAnswer {
  return { text: errorText(requestId, error), status };
}

/** The answer to a call that is over. */
export function finalAnswer(front: FrontContext, answered: Answered, event: CallEvent): FinalAnswer {
  if (event.type === "error") {
    const { error } = event;
    return { text: ownError(front, answered, error), status: 200, error };
  }
  if (event.type !== "end") throw new Error("the call is not over");
  if (event.outcome === "fault") return fault(answered, event.payload);
  if (isMissingResource(answered, event.payload)) return errorFinal(answered.requestId, noResource(answered.name));
  return { text: answerText(answered.requestId, "result", shaped(front, answered, event.payload)), status: 200 };
}

function shaped(front: FrontContext, { method }: Answered, result: Payload): Payload {
  if (method === "tools/call" && !asksForMore(result)) return toolResult(front, result);
  return ownResult(front, result, method === "resources/read" && !asksForMore(result) ? "cached" : "plain");
}

/** What a tool answered. */
export function toolResult(front: FrontContext, result: Payload): Payload {
  const { text } = result;
  const isUsual =
    text.startsWith(COMPLETE_CONTENT) || (text.startsWith('{"content":') && !text.includes('"resultType"'));
  if (isUsual && !text.includes('"_meta"')) {
    const rest = text.startsWith(COMPLETE_CONTENT) ? text.slice(COMPLETE.length) : text.slice(1);
    return payload(`${COMPLETE}"_meta":{"${SERVER_INFO}":${infoOf(front)}},${rest}`);
  }
  return unusualToolResult(front, result);
}

/** How most results begin: then nothing of them needs to be looked at. */
const COMPLETE = '{"resultType":"complete",';
const COMPLETE_CONTENT = `${COMPLETE}"content":`;

function unusualToolResult(front: FrontContext, result: Payload): Payload {
  return withDefault(ownResult(front, result, "plain"), "content", "[]");
}

function asksForMore(result: Payload): boolean {
  // Keys of a result are never written with escapes.
  if (result.text.startsWith(COMPLETE) || !result.text.includes('"resultType"')) return false;
  const type = decodeString(result.at(["resultType"]));
  return type !== undefined && type !== "complete";
}

/** A server that knows no such resource and answers with nothing instead of saying so. */
function isMissingResource({ method, isListed }: Answered, result: Payload): boolean {
  return method === "resources/read" && !isListed && /^\[\s*\]$/.test(result.at(["contents"]) ?? "");
}

function noResource(uri: string): ModernError {
  return { code: INVALID_PARAMS, message: `Resource not found: ${uri}`, data: { uri } };
}

/** A server's own error, verbatim but for the one code that this era has moved. */
function fault({ requestId, method, name }: Answered, error: Payload): FinalAnswer {
  const code = Number(error.at(["code"]));
  if (code === RESOURCE_NOT_FOUND && method.startsWith("resources/")) {
    const moved = error.splice(["code"], String(INVALID_PARAMS));
    const isOpen = moved.at(["data"])?.startsWith("{") === true;
    const told = isOpen
      ? moved.splice(["data", "uri"], jsonText(name))
      : moved.splice(["data"], jsonText({ uri: name }));
    return { text: answerText(requestId, "fault", told), status: 200 };
  }
  return { text: answerText(requestId, "fault", error), status: statusOf(code, method) };
}

/** 404 says that the method itself is unknown, which a server can say only of methods that are not ours. */
function statusOf(code: number, method: string): number {
  if (code === CAPABILITY_MISSING) return 400;
  return code === METHOD_NOT_FOUND && !OUR_CALLS.has(method) ? 404 : 200;
}

const OUR_CALLS: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read", "completion/complete"]);

function ownError(front: FrontContext, { requestId, method, callId }: Answered, error: GatewayError): string {
  const parts = errorParts(method, error, callId);
  if ("result" in parts)
    return answerText(requestId, "result", ownResult(front, payload(jsonText(parts.result)), "plain"));
  // A name that is not known is a bad parameter in this era, whatever it names.
  const code = error.code === "NO_SUCH_TARGET" ? INVALID_PARAMS : parts.error.code;
  return errorText(requestId, { ...parts.error, code });
}

/** The process is gone in which a call waited for its client. */
export function callLost(callId: string): ModernError {
  const message = "The process in which the call waited is gone; whether the call took effect is not known.";
  return upstreamLost(new GatewayError("OUTCOME_UNKNOWN", { message }), callId);
}

/** The upstream died while the call waited for its client. */
export function upstreamLost(error: GatewayError, callId: string): ModernError {
  const data = { reason: "upstream_lost", code: error.code, callId, retry: ERROR_CODES[error.code].retry };
  return { code: -32603, message: error.message, data };
}
