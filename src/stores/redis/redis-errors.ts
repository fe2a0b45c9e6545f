import { GatewayError } from "../../contract/index.ts";

/**
 * Only the words of an error: those of the client carry the command with all its arguments, so a password or what a client
 * sent would get into the log.
 */
export function describeError(error: unknown): string {
  return error instanceof Error ? error.message || error.name : "unknown failure";
}

export function stateUnavailable(reason: string): GatewayError {
  return new GatewayError("STATE_UNAVAILABLE", { details: { store: "redis" }, cause: new Error(`redis: ${reason}`) });
}
