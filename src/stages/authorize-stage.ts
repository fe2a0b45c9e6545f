import { type Call, changedCall, GatewayError, type Stage } from "../contract/index.ts";
import type { AccessDecision } from "../mechanisms/access/index.ts";

type AuthorizeOptions = {
  /** Undefined: it may go. Throws GatewayError where it cannot be said. */
  readonly judge: (call: Call) => AccessDecision | undefined;
  /** Whether what a caller may not see is to look as if it were not there. */
  readonly conceals: () => boolean;
};

/**
 * Decides about a call when it is made. Its target was found in what the caller may see, but that may have changed since, and
 * only now are there arguments. What needs somebody's yes goes on with the decision, for whoever asks for that.
 */
export function authorizeStage({ judge, conceals }: AuthorizeOptions): Stage {
  return function authorize(call, out, next) {
    let decision: AccessDecision | undefined;
    try {
      decision = judge(call);
    } catch (error) {
      return Promise.reject(error);
    }
    if (decision === undefined || decision.effect === "allow") return next(call, out);
    if (decision.effect === "deny") return Promise.reject(refusalOf(decision, conceals()));
    return next(changedCall(call, { confirm: decision }), out);
  };
}

/** Why a call that was let in may not be made any more; undefined: it may. Throws where it cannot be said. */
export function presentRefusal({ judge, conceals }: AuthorizeOptions, call: Call): GatewayError | undefined {
  const decision = judge(call);
  return decision?.effect === "deny" ? refusalOf(decision, conceals()) : undefined;
}

function refusalOf({ source, reason, missing, isShown }: AccessDecision, isConcealed: boolean): GatewayError {
  if (missing)
    return new GatewayError("NOT_ALLOWED", { message: messageOf(missing), details: { source, scopes: missing } });
  const code = isShown || !isConcealed ? "NOT_ALLOWED" : "NO_SUCH_TARGET";
  return new GatewayError(code, { details: { source, reason } });
}

function messageOf(missing: readonly string[]): string {
  return `The caller may not make this call: its token lacks the scope ${missing.join(" ")}.`;
}
