import type { HttpResponse, Meter } from "../../../contract/index.ts";
import { errorText } from "../../../wire/jsonrpc/index.ts";

/** Why a message was refused before it became a call. `reason` is the metric's label and never a caller's text. */
export type Refusal = {
  readonly status: number;
  readonly reason: string;
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
  readonly id?: string;
  /** Further header lines. */
  readonly lines?: string;
};

export function refuse(meter: Meter, response: HttpResponse, refusal: Refusal): void {
  meter.count("isthmus_refused_total", refusal.reason);
  const { id = "null", code, message, data } = refusal;
  const text = errorText(id, data === undefined ? { code, message } : { code, message, data });
  response.answer(refusal.status, `Content-Type: application/json\r\n${refusal.lines ?? ""}`, text);
}
