/** What the client of a call over several rounds is answered with in the end. */
import type { CallEvent, Payload } from "../../../contract/index.ts";
import { answerText } from "../../../wire/jsonrpc/index.ts";
import type { FrontContext } from "../front-context.ts";
import { capabilityMissing, type ModernError } from "./modern-errors.ts";
import type { OpenCall } from "./open-call.ts";
import { joinRequirements } from "./questions.ts";
import { type Answered, errorFinal, type FinalAnswer, finalAnswer, ownResult, upstreamLost } from "./results.ts";
import type { RoundKeeper } from "./round.ts";

/** How a call ended, or what is said instead. */
export type Final = CallEvent | ModernError;

/** `refused`: what the client would have had to declare to be asked what it was not asked. */
export function answerOf(
  front: FrontContext,
  keeper: RoundKeeper,
  { call, requestId, final }: { call: OpenCall; requestId: string; final: Final },
  refused: readonly Record<string, unknown>[],
): FinalAnswer {
  if (!("type" in final)) return errorFinal(requestId, final);
  if (refused.length > 0 && isFailure(final))
    return errorFinal(requestId, capabilityMissing(joinRequirements(refused)));
  const { method, name, isListed, canAsk } = call.about;
  const isFault = final.type === "end" && final.outcome === "fault";
  const visit = isFault && canAsk ? keeper.askToVisit(call, final.payload) : undefined;
  if (visit) return "code" in visit ? errorFinal(requestId, visit) : plainAnswer(front, requestId, visit);
  const answered: Answered = { requestId, method, name, isListed, callId: call.run?.id ?? "" };
  const isQuestion = final.type === "end" && final.outcome === "input";
  return finalAnswer(front, answered, isQuestion ? { ...final, payload: keeper.wrap(call, final.payload) } : final);
}

/** A result of our own making. */
export function plainAnswer(front: FrontContext, requestId: string, result: Payload): FinalAnswer {
  return { text: answerText(requestId, "result", ownResult(front, result, "plain")), status: 200 };
}

const LOST: ReadonlySet<string> = new Set(["PROVIDER_UNREACHABLE", "PROVIDER_FAILED", "OUTCOME_UNKNOWN"]);

/** The end of a call as it is told to a client that comes back for it. */
export function laterFinal(event: CallEvent, callId: string): Final {
  return event.type === "error" && LOST.has(event.error.code) ? upstreamLost(event.error, callId) : event;
}

function isFailure(event: CallEvent): boolean {
  if (event.type !== "end") return event.type === "error";
  return event.outcome === "fault" || event.payload.at(["isError"]) === "true";
}
