/** What a client says without waiting for an answer, and its answers to our questions. */
import { decodeString, GatewayError, type Payload, type Principal, payload } from "../../contract/index.ts";
import type { OpenAsk, Session } from "../../mechanisms/sessions/index.ts";
import type { Message } from "../../wire/jsonrpc/index.ts";
import { LATEST_REVISION, ROOTS_CHANGED } from "../../wire/mcp/index.ts";
import { isDialectWord } from "../../wire/mgp/index.ts";
import { CallReader, reasonOf } from "./call-reader.ts";
import { type Exchange, noteRefused, viewOf } from "./calls.ts";
import type { FrontContext } from "./front-context.ts";
import { TaskResult } from "./task-result.ts";

type Given = Pick<Exchange, "session" | "principal" | "message">;
type Told = Given & Pick<Exchange, "address">;

/**
 * An answer to one of our questions. One that this session was never asked changes nothing. Undefined: it was taken; otherwise
 * why not: whoever answers must be able to make the call that asks, and the question waits for somebody who is.
 */
export function takeAnswer(front: FrontContext, { session, principal, message }: Given): GatewayError | undefined {
  const refusal = answerRefusal(front, session.openAsk(message.id), principal);
  if (refusal) front.meter.count("isthmus_notices_dropped_total", "answer refused");
  else if (!session.answer(message.id, message.outcome, message.body))
    front.meter.count("isthmus_notices_dropped_total", "answer to no question");
  return refusal;
}

function answerRefusal(front: FrontContext, ask: OpenAsk | undefined, by: Principal): GatewayError | undefined {
  if (ask?.run) return front.returnRefusal?.(ask.run.call, by);
  return ask?.mayAnswer?.(by) === false ? new GatewayError("NOT_ALLOWED") : undefined;
}

export function takeNotification(front: FrontContext, given: Told): void {
  const { session, message } = given;
  switch (message.method) {
    case "notifications/initialized":
      return;
    case "notifications/cancelled":
      return cancel(session, message);
    case "notifications/progress":
      return progress(session, message);
    default:
      return relay(front, given);
  }
}

/**
 * A request without an id is no notification: passed on, it could make a server act on what nobody has judged. One that
 * no revision knows goes where an unknown request would go, to the server behind us if there is just one. Where not all is
 * shown, of what servers are told only that roots have changed is passed on, and nothing that may stand beside it.
 */
function relay(front: FrontContext, given: Told): void {
  const { session, message } = given;
  const { method, body } = message;
  const isNotification = method.startsWith("notifications/");
  const isOurs = !isNotification && LATEST_REVISION.methods.has(method.toLowerCase());
  if (isOurs) front.meter.count("isthmus_notices_dropped_total", "request without id");
  else if (isDialectWord(method) || session.isEphemeral) drop(front);
  else {
    const { providers, isPartial } = viewOf(front, given);
    const tell = (input: Payload) => front.catalog.notify(session.catalog, session, method, input);
    if (isPartial && method === ROOTS_CHANGED) tell(payload(""));
    else if (!isPartial && (isNotification || providers.length === 1)) tell(body);
    else {
      drop(front);
      noteRefused(front, given, "method", method);
    }
  }
}

function drop({ meter }: FrontContext): void {
  meter.count("isthmus_notices_dropped_total", "nobody to tell");
}

/** Ids are compared as they are spelled: 1 and "1" are two requests. */
function cancel(session: Session, message: Message): void {
  const id = message.members?.textOf("requestId");
  const call = id === undefined ? undefined : session.runningCall(id);
  if (call instanceof CallReader) call.cancel(reasonOf(message.members?.textOf("reason")), message.body);
  else if (call instanceof TaskResult) call.cancel();
}

/** Progress of the client's work on a question: the token is the question's id. */
function progress(session: Session, message: Message): void {
  const token = message.members?.textOf("progressToken") ?? "";
  const ask = session.asks?.get(token) ?? session.asks?.get(decodeString(token) ?? "");
  if (!ask?.run || ask.isAnswered) return;
  ask.run.reply({ type: "notice", method: message.method, payload: message.body, key: ask.key });
}
