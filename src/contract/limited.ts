import type { Call } from "./call.ts";
import { GatewayError } from "./error.ts";
import type { Limited } from "./shared-state.ts";

/** When somebody who found all places taken may ask again: nobody knows when one is given back. */
const PLACES_RETRY_MS = 1_000;

/** What a caller is told who has had its share. `details.level` is for the audit trail and the trace. */
export function limitedError({ of, level, retryMs }: Limited): GatewayError {
  const retryAfterMs = of === "places" ? PLACES_RETRY_MS : retryMs;
  const wait = retryAfterMs === undefined ? undefined : `Try again in ${secondsOf(retryAfterMs)} s.`;
  return new GatewayError("LIMITED", {
    message: `${reasonOf(of, level, retryMs)} ${wait ?? "Waiting does not help: only the operator can raise it."}`,
    details: { level, ...(retryAfterMs !== undefined && { retryAfterMs }) },
  });
}

function reasonOf(of: Limited["of"], level: Limited["level"], retryMs: number | undefined): string {
  const whose = level === "global" ? "gateway" : level;
  if (of === "places") return `As many calls run at once as the limit of this ${whose} allows.`;
  return retryMs === undefined
    ? `The budget of this ${whose} is spent.`
    : `The rate limit of this ${whose} is reached.`;
}

/** Rounded up: whoever waits that long finds what it waited for. */
function secondsOf(ms: number): number {
  return Math.ceil(ms / 100) / 10;
}

/** Whether a call waits for somebody's yes before it is made. Asked once, before the call is let in. */
export type IsHeld = (call: Call) => boolean;

/**
 * Places and budgets are for calls that are made: one that is held takes only rates when it comes in. Whoever holds it takes
 * the rest here, right before it uses up the yes and lets the call go: a call that finds no place may be asked for again.
 */
export interface HeldCharges {
  /** Rejects with LIMITED, and nothing is taken; or with STATE_UNAVAILABLE. What it takes is given back when the call ends. */
  take(call: Call): Promise<void>;
}
