import type { ServerResponse } from "node:http";
import type { Meter } from "../../../contract/index.ts";
import { errorText } from "../../../wire/jsonrpc/index.ts";

/** Why a message was refused before it became a call. `reason` is the metric's label and never a caller's text. */
export type Refusal = {
  readonly status: number;
  readonly reason: string;
  readonly code: number;
  readonly message: string;
  readonly id?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

export function refuse(meter: Meter, response: ServerResponse, refusal: Refusal): void {
  meter.count("isthmus_refused_total", refusal.reason);
  const text = errorText(refusal.id ?? "null", { code: refusal.code, message: refusal.message });
  response.writeHead(refusal.status, {
    "Content-Type": "application/json",
    "Content-Length": text.length,
    ...refusal.headers,
  });
  response.end(text, "latin1");
}
