import {
  type Call,
  type CallEvent,
  changedCall,
  GatewayError,
  jsonText,
  type Out,
  type Payload,
  type Principal,
  payload,
  type Stage,
} from "../contract/index.ts";
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
    if (decision === undefined) return next(call, out);
    if (decision.effect === "deny") return Promise.reject(refusalOf(decision, conceals()));
    const seen = decision.keeps ? onlyKept(out, decision.keeps) : out;
    if (decision.effect === "allow") return next(call, seen);
    const { keeps: _, ...confirm } = decision;
    return next(changedCall(call, { confirm }), seen);
  };
}

type Keeps = (value: string) => boolean;

/** MCP has no more in one answer. */
const MAX_VALUES = 100;

function onlyKept(out: Out, keeps: Keeps): Out {
  const seen = (event: CallEvent) =>
    event.type === "end" && event.outcome === "result" ? { ...event, payload: keptOf(event.payload, keeps) } : event;
  return { write: (event) => out.write(seen(event)), ready: () => out.ready() };
}

/** How many there are in all, and whether there are more, would count the others, too. What cannot be read holds nothing. */
function keptOf(result: Payload, keeps: Keeps): Payload {
  try {
    const { completion } = result.value() as { completion: { values: readonly string[] } };
    const kept = completion.values.slice(0, MAX_VALUES).filter((value) => keeps(value));
    return result
      .splice(["completion", "values"], jsonText(kept))
      .splice(["completion", "total"])
      .splice(["completion", "hasMore"]);
  } catch {
    return payload(jsonText({ completion: { values: [] } }), result.frame);
  }
}

/** Why a call that was let in is denied by now; undefined: it is not. Throws where it cannot be said. */
export function presentDenial(options: AuthorizeOptions, call: Call): GatewayError | undefined {
  return presentRefusal(options, call, () => undefined);
}

/** Why a call may not be sent. `confirm`: what access says of it now, where that wants a yes. */
export type MissingYes = (call: Call, confirm: AccessDecision | undefined) => GatewayError | undefined;

/**
 * Why a call that was let in may not be sent any more; undefined: it may. Throws where it cannot be said. `missingYes` is asked about
 * every call that is not denied: a yes may be wanted that was not when it came.
 */
export function presentRefusal(
  { judge, conceals }: AuthorizeOptions,
  call: Call,
  missingYes: MissingYes,
): GatewayError | undefined {
  const decision = judge(call);
  if (decision?.effect === "deny") return refusalOf(decision, conceals());
  return missingYes(call, decision?.effect === "confirm" ? decision : undefined);
}

/**
 * Why somebody who comes back for a call may not make it, as they are known now; undefined: they may. A yes that the call
 * never needed cannot be given any more.
 */
export function returnRefusal(
  { judge, conceals }: AuthorizeOptions,
  call: Call,
  by: Principal,
): GatewayError | undefined {
  try {
    const decision = judge(changedCall(call, { principal: by }));
    if (decision === undefined || decision.effect === "allow") return undefined;
    if (decision.effect === "deny") return refusalOf(decision, conceals());
    const { source, reason } = decision;
    if (judge(call)?.effect === "confirm") return undefined;
    return new GatewayError("NOT_ALLOWED", { details: { source, reason } });
  } catch (error) {
    return GatewayError.from(error);
  }
}

function refusalOf(decision: AccessDecision, isConcealed: boolean): GatewayError {
  const { source, reason, missing, isShown, isUnreadable } = decision;
  if (isUnreadable)
    return new GatewayError("NOT_ALLOWED", {
      message: `The caller may not make this call: ${reason}.`,
      details: { source, reason },
    });
  if (missing)
    return new GatewayError("NOT_ALLOWED", { message: messageOf(missing), details: { source, scopes: missing } });
  const code = isShown || !isConcealed ? "NOT_ALLOWED" : "NO_SUCH_TARGET";
  return new GatewayError(code, { details: { source, reason } });
}

function messageOf(missing: readonly string[]): string {
  return `The caller may not make this call: its token lacks the scope ${missing.join(" ")}.`;
}
