import type { HttpRequest, HttpResponse } from "../../../contract/index.ts";
import { errorText } from "../../../wire/jsonrpc/index.ts";
import type { FrontContext } from "../front-context.ts";

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

/** What is refused, and the way back. */
export type Refused = { readonly request: HttpRequest; readonly response: HttpResponse };

/** What says nothing against whoever sent it: another method or form is wanted, or it is our own fault. */
const HARMLESS: ReadonlySet<number> = new Set([405, 406, 429]);

export function refuse(front: FrontContext, { request, response }: Refused, refusal: Refusal): void {
  const { meter, log, refused } = front;
  const { id = "null", code, message, data, status, reason } = refusal;
  meter.count("isthmus_refused_total", reason);
  if (refused && status < 500 && !HARMLESS.has(status)) {
    const { principal, url: path, clientAddress: address } = request;
    refused({ reason, principal, path, address });
  }
  log.debug("request refused", {
    status,
    reason,
    // Found out only where the line is written.
    get address() {
      return request.clientAddress;
    },
  });
  const text = errorText(id, data === undefined ? { code, message } : { code, message, data });
  response.answer(status, `Content-Type: application/json\r\n${refusal.lines ?? ""}`, text);
}
