/**
 * Messages as text of one character per byte. A payload that was cut from a message goes out inside what surrounded
 * it there: only the id and the payload itself may differ.
 */
import { type Frame, jsonText, type Payload } from "../../contract/index.ts";

export function requestText(id: string, method: string, params: Payload): string {
  if (params.frame) return reframe(params.frame, params.text, id);
  const body = params.text === "" ? "" : `,"params":${params.text}`;
  return `{"jsonrpc":"2.0","id":${id},"method":${jsonText(method)}${body}}`;
}

export function notificationText(method: string, params: Payload): string {
  if (params.frame) return reframe(params.frame, params.text, undefined);
  const body = params.text === "" ? "" : `,"params":${params.text}`;
  return `{"jsonrpc":"2.0","method":${jsonText(method)}${body}}`;
}

export function answerText(id: string, outcome: "result" | "fault", body: Payload): string {
  if (body.frame) return reframe(body.frame, body.text, id);
  return `{"jsonrpc":"2.0","id":${id},"${outcome === "result" ? "result" : "error"}":${body.text}}`;
}

export type ErrorBody = { code: number; message: string; data?: unknown };

export function errorText(id: string, error: ErrorBody): string {
  return `{"jsonrpc":"2.0","id":${id},"error":${jsonText(error)}}`;
}

/** The message around a payload again, with another id and the payload as it is now. */
function reframe(frame: Frame, body: string, id: string | undefined): string {
  const { text, start, end } = frame;
  // A message without params has no place for any: they go before its closing brace.
  const middle = start === end && body !== "" ? `,"params":${body}` : body;
  if (!frame.id || id === undefined) return text.slice(0, start) + middle + text.slice(end);
  if (frame.id.start < start) {
    return text.slice(0, frame.id.start) + id + text.slice(frame.id.end, start) + middle + text.slice(end);
  }
  return text.slice(0, start) + middle + text.slice(end, frame.id.start) + id + text.slice(frame.id.end);
}
