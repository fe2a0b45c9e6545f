import { type ErrorCode, GatewayError, type ProviderStatus } from "../../contract/index.ts";
import { type UpstreamFailure, UpstreamFault } from "./transport.ts";

/** What a failed request means to the call that made it. */
const CALL_CODES = {
  unreachable: "PROVIDER_UNREACHABLE",
  lost: "OUTCOME_UNKNOWN",
  invalid: "PROVIDER_FAILED",
  auth: "PROVIDER_UNREACHABLE",
  expired: "PROVIDER_UNREACHABLE",
  full: "OVERLOADED",
} as const satisfies Record<UpstreamFailure["kind"], ErrorCode>;

/** What a failed opening says about the server. */
export const OPEN_STATUS = {
  unreachable: "unreachable",
  lost: "unreachable",
  invalid: "invalid",
  auth: "auth_required",
  expired: "unreachable",
  full: "unreachable",
} as const satisfies Record<UpstreamFailure["kind"], ProviderStatus>;

export function gatewayError(failure: UpstreamFailure): GatewayError {
  if (failure.error) return failure.error;
  const code = isForbidden(failure) ? "NOT_ALLOWED" : CALL_CODES[failure.kind];
  return new GatewayError(code, { message: failure.message, cause: failure.cause });
}

/** Whether what became of one request says something about the session of all. What one caller may not do does not. */
export function isTrouble(failure: UpstreamFailure): boolean {
  const isOfCall = failure.error !== undefined || isForbidden(failure) || failure.kind === "full";
  return !isOfCall && failure.kind !== "lost" && failure.kind !== "invalid";
}

/** The server knows the caller, and does not let it do this. */
function isForbidden({ status }: UpstreamFailure): boolean {
  return status === 403;
}

export function failureOf(thrown: unknown): UpstreamFailure {
  if (thrown instanceof UpstreamFault) return thrown.failure;
  return { kind: "invalid", message: "The gateway could not talk to the server.", cause: thrown };
}
