/** Errors in MGP's words and numbers, as far as its access methods have them. */
import type { ErrorCode, GatewayError } from "../../contract/index.ts";
import type { ErrorBody } from "../jsonrpc/index.ts";

type MgpName = { readonly code: number; readonly name: string; readonly category: "security" | "lifecycle" };

const NAMES: Partial<Record<ErrorCode, MgpName>> = {
  NOT_ALLOWED: { code: 1000, name: "PERMISSION_DENIED", category: "security" },
  STATE_UNAVAILABLE: { code: 2000, name: "SERVER_NOT_READY", category: "lifecycle" },
};

/** How a caller is to come back where that helps. */
const RETRY = { retry_after_ms: 1_000, retry_strategy: "exponential_backoff", max_retries: 5 } as const;

/** Undefined: MGP has no word for it. */
export function mgpError({ code, message }: GatewayError): ErrorBody | undefined {
  const known = NAMES[code];
  if (!known) return undefined;
  const { category, name } = known;
  const retryable = category === "lifecycle";
  const _mgp = { category, retryable, ...(retryable && RETRY), details: { name } };
  return { code: known.code, message, data: { _mgp } };
}
