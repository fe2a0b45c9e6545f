import { GatewayError, headerLine } from "../../../contract/index.ts";
import { errorBody } from "../mcp-errors.ts";
import type { Refusal } from "./refuse.ts";

export const RETRY_LINE: string = headerLine("Retry-After", "1");

/** The refusal of what cannot be done safely now, and may be in a moment. */
export function unavailable(cause: unknown, id = "null"): Refusal {
  const error = GatewayError.from(cause);
  const body = errorBody("", error, "");
  return { status: error.code === "INTERNAL" ? 500 : 503, reason: "state", id, ...body, lines: RETRY_LINE };
}
