/** The rest of a stream whose call died with its process. */
import { GatewayError, type HttpResponse, payload } from "../../../contract/index.ts";
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

export function resumeLost(http: HttpContext, session: Session, exchange: Refused, place: Place): void {
  const { response } = exchange;
  resume(http, session, response, place).catch((cause) => refuse(http.front, exchange, unavailable(cause)));
}

async function resume(http: HttpContext, session: Session, response: HttpResponse, place: Place): Promise<void> {
  const { journals, front } = http;
  const state = front.cluster?.state;
  if (!state) return answerGone(http, response);
  const events = (await journals?.read(place.stream, session)) ?? [];
  const final = events.find((event) => event.isFinal);
  // Only of a call that has no answer is there anything to find.
  const open = final ? [] : await lostCalls(state.calls, session.id);
  const lost = open.find(({ call }) => call === place.stream);
  const asked = events[0] ?? lost;
  if (response.isOver) return;
  if (!asked || (final && final.cursor <= place.cursor)) return answerGone(http, response);
  const stream = new SseStream(response, front.timers, { drained: () => undefined, left: () => undefined });
  for (const event of events) {
    if (event.isFinal || event.cursor <= place.cursor || isQuestion(event)) continue;
    stream.send(event.text, `${place.stream}.${event.cursor}`);
  }
  if (final) return stream.end(final.text, `${place.stream}.${final.cursor}`);
  if (lost) tellLost(http, session, lost);
  const error = new GatewayError("OUTCOME_UNKNOWN");
  stream.end(errorAnswer(asked.requestId, asked.method, error, place.stream));
}

/** It is told once, however often the client comes back. */
function tellLost({ front }: HttpContext, session: Session, lost: LostCall): void {
  const { method, target, trace } = lost;
  const { provider: server = "", name = "" } = target;
  front.onLost?.({ principal: session.principal, method, target: { server, name }, traceId: trace });
  if (front.cluster) {
    forgetLostCalls(front.cluster.state.calls, session.id, [lost]).catch((cause) =>
      front.log.debug("a lost call stays in the table of open ones", { cause }),
    );
  }
}

/** Whoever asked is gone: there is nobody to answer. */
function isQuestion({ text }: JournalEvent): boolean {
  const message = payload(text === "" ? "{}" : text);
  return message.at(["id"]) !== undefined && message.at(["method"]) !== undefined;
}
