/** The rest of a stream whose call died with its process. */
import { GatewayError, type HttpRequest, type HttpResponse, payload, type Target } from "../../../contract/index.ts";
import { forgetLostCalls, type LostCall, lostCalls } from "../../../mechanisms/runs/index.ts";
import type { Session } from "../../../mechanisms/sessions/index.ts";
import { errorAnswer } from "../mcp-errors.ts";
import type { JournalEvent } from "./call-journals.ts";
import type { HttpContext } from "./http-context.ts";
import { type Refused, refuse } from "./refuse.ts";
import { SseStream } from "./sse-stream.ts";
import { unavailable } from "./unavailable.ts";

export type Place = { readonly stream: string; readonly cursor: number };

/** Ends a stream that nobody knows anything of: 204 is how an event source is told not to come back for it. */
export function answerGone({ front }: HttpContext, response: HttpResponse): void {
  front.meter.count("isthmus_refused_total", "resume");
  response.answer(204, "", "");
}

/** A stream of one message. */
export function endWith({ front }: HttpContext, response: HttpResponse, text: string): void {
  new SseStream(response, front.timers, NOBODY).end(text);
}

const NOBODY = { drained: () => undefined, left: () => undefined };

type ReadCall = { readonly id: string; readonly method: string; readonly target: Target };

/** What came of a call is handed out to whoever came back for it. */
export function noteRead(
  { front }: HttpContext,
  { principal, clientAddress: address }: HttpRequest,
  { id, method, target }: ReadCall,
): void {
  const called = { server: target.provider, name: target.name };
  front.resultRead?.({ principal, method, target: called, of: { callId: id }, address });
}

export function resumeLost(http: HttpContext, session: Session, exchange: Refused, place: Place): void {
  resume(http, session, exchange, place).catch((cause) => refuse(http.front, exchange, unavailable(cause)));
}

async function resume(
  http: HttpContext,
  session: Session,
  { request, response }: Refused,
  place: Place,
): Promise<void> {
  const { journals, front } = http;
  const state = front.cluster?.state;
  if (!state) return answerGone(http, response);
  const events = (await journals?.read(place.stream, session)) ?? [];
  const final = events.find((event) => event.isFinal);
  // Only of a call that has no answer is there anything to find.
  const open = final ? [] : await lostCalls(state.calls, session.id);
  const lost = open.find(({ call }) => call === place.stream);
  const asked = lost ?? events[0];
  if (response.isOver) return;
  if (!asked || (final && final.cursor <= place.cursor)) return answerGone(http, response);
  const [first] = events;
  const [target, args] = [first?.target ?? asked.target, first?.args];
  if (!target || !front.catalog.tells(session.catalog, request.principal, { target, args }, "asked")) {
    const error = new GatewayError("NOT_ALLOWED");
    return endWith(http, response, errorAnswer(asked.requestId, asked.method, error, place.stream));
  }
  if (final) noteRead(http, request, { id: place.stream, method: asked.method, target });
  const end = final ?? (await tellLost(http, session, { place, events, lost, asked }));
  if (response.isOver) return;
  const stream = new SseStream(response, front.timers, NOBODY);
  for (const event of events) {
    if (event.isFinal || event.cursor <= place.cursor || isQuestion(event)) continue;
    stream.send(event.text, `${place.stream}.${event.cursor}`);
  }
  stream.end(end.text, `${place.stream}.${end.cursor}`);
}

type Ending = {
  readonly place: Place;
  readonly events: readonly JournalEvent[];
  /** Unset: the table of open calls has nothing of it. It never came there, or was struck off when the call was through. */
  readonly lost: LostCall | undefined;
  readonly asked: JournalEvent | LostCall;
};

/**
 * Ends it as unknown. That is on the audit trail before anybody hears of it, whether or not the table of open calls knows the
 * call: its process may have struck it off and died before it had noted how it ended. It is told once, however often the
 * client comes back.
 */
async function tellLost(
  http: HttpContext,
  session: Session,
  { place, events, lost, asked }: Ending,
): Promise<JournalEvent> {
  const { front, journals } = http;
  const { requestId, method, target, trace } = asked;
  front.onLost?.({
    principal: session.principal,
    method,
    target: { server: target?.provider ?? "", name: target?.name ?? "" },
    traceId: trace,
  });
  const text = errorAnswer(requestId, method, new GatewayError("OUTCOME_UNKNOWN"), place.stream);
  // Behind everything that the client has seen, whether or not it was written down.
  const cursor = Math.max(place.cursor, events.at(-1)?.cursor ?? -1) + 1;
  const end = { session: session.id, requestId, method, ...(target && { target }), trace, text, isFinal: true, cursor };
  const state = front.cluster?.state;
  await Promise.all([
    journals?.close(place.stream, end),
    state && lost && forgetLostCalls(state.calls, session.id, [lost]),
  ]).catch((cause) => front.log.debug("a lost call may be told of again", { cause }));
  return end;
}

/** Whoever asked is gone: there is nobody to answer. */
function isQuestion({ text }: JournalEvent): boolean {
  const message = payload(text === "" ? "{}" : text);
  return message.at(["id"]) !== undefined && message.at(["method"]) !== undefined;
}
