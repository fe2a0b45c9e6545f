/** What a client says without waiting for an answer, and its answers to our questions. */
import { decodeString, type View } from "../../contract/index.ts";
import type { Session } from "../../mechanisms/sessions/index.ts";
import type { Message } from "../../wire/jsonrpc/index.ts";
import { LATEST_REVISION } from "../../wire/mcp/index.ts";
import { CallReader, reasonOf } from "./call-reader.ts";
import { viewOf } from "./calls.ts";
import type { FrontContext } from "./front-context.ts";
import { TaskResult } from "./task-result.ts";

/** An answer to one of our questions. One that this session was never asked changes nothing. */
export function takeAnswer(front: FrontContext, session: Session, message: Message): void {
  if (session.answer(message.id, message.outcome, message.body)) return;
  front.meter.count("isthmus_notices_dropped_total", "answer to no question");
}

export function takeNotification(front: FrontContext, session: Session, message: Message): void {
  switch (message.method) {
    case "notifications/initialized":
      return;
    case "notifications/cancelled":
      return cancel(session, message);
    case "notifications/progress":
      return progress(session, message);
    default:
      return relay(front, session, message);
  }
}

/**
 * A request without an id is no notification: passed on, it could make a server act on what nobody has judged. One that
 * no revision knows goes where an unknown request would go, to the server behind us if there is just one.
 */
function relay(front: FrontContext, session: Session, message: Message): void {
  const { method, body } = message;
  const isNotification = method.startsWith("notifications/");
  const isOurs = !isNotification && LATEST_REVISION.methods.has(method.toLowerCase());
  if (isOurs) front.meter.count("isthmus_notices_dropped_total", "request without id");
  else if (
    session.isEphemeral ||
    (!isNotification && !canRelay(viewOf(front, { session, principal: session.principal })))
  )
    front.meter.count("isthmus_notices_dropped_total", "nobody to tell");
  else front.catalog.notify(session.catalog, session, method, body);
}

/** What nobody here knows goes to the one server behind us, where all of it is shown. */
function canRelay({ providers, isPartial }: View): boolean {
  return providers.length === 1 && isPartial !== true;
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
