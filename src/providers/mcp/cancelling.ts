/** Tells a server that nobody waits for the answer to a call any more. */
import { type CallReply, jsonText, payload } from "../../contract/index.ts";
import { notificationText } from "../../wire/jsonrpc/index.ts";
import type { RequestStream } from "./transport.ts";
import type { UpstreamSession } from "./upstream-session.ts";
import { within } from "./within.ts";

/** How long the server may take to hear of a cancel before its stream is closed. */
const CANCEL_MS = 2000;

type Cancel = CallReply & { readonly type: "cancel" };

/** `id`: that of the request. */
export function cancelRequest(
  session: UpstreamSession,
  id: string,
  stream: RequestStream | undefined,
  { reason, payload: words }: Cancel,
): void {
  const why = reason === undefined ? "" : `,"reason":${jsonText(reason)}`;
  const own = payload(`{"requestId":${id}${why}}`);
  if (session.modern && !session.waitingFor(id)) return; // a question is open: nothing runs at the server
  session.forget(id);
  if (!session.modern) {
    const text = notificationText("notifications/cancelled", words?.splice(["requestId"], id) ?? own);
    // A server that has its stream closed first may take that for a lost client and go on.
    void within(session.context.timers, CANCEL_MS, session.send(text)).then(() => stream?.abort());
  }
  // In 2026-07-28 closing the stream is the cancel; where there are no streams, it is said.
  else if (session.transport.hasStreams) stream?.abort();
  else void session.modern.notify("notifications/cancelled", own);
}
