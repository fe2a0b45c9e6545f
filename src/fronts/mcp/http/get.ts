/** GET: the session's own stream, or the rest of a call's stream for a client that lost it. */
import { type HttpRequest, type HttpResponse, jsonText, type Principal, payload } from "../../../contract/index.ts";
import type { Outbox, OutboxWriter, Session } from "../../../mechanisms/sessions/index.ts";
import { notificationText } from "../../../wire/jsonrpc/index.ts";
import { revisionOf } from "../../../wire/mcp/index.ts";
import { CallReader } from "../call-reader.ts";
import { tokenIn } from "../calls.ts";
import type { FrontContext } from "../front-context.ts";
import { passesLevel } from "../log-level.ts";
import { errorAnswer } from "../mcp-errors.ts";
import { acceptsOf } from "./accept.ts";
import type { HttpContext } from "./http-context.ts";
import { HttpOutlet } from "./http-outlet.ts";
import { type Refused, refuse } from "./refuse.ts";
import { answerGone, endWith, noteRead, type Place, resumeLost } from "./resume-lost.ts";
import { SseStream, type StreamOwner } from "./sse-stream.ts";

const OUTBOX = "out";
const RESUMED = { json: false, sse: true, prefersSse: false };

export function handleGet(http: HttpContext, session: Session, request: HttpRequest, response: HttpResponse): void {
  const accepts = acceptsOf(request.headers.accept);
  if (!accepts.sse) {
    const message = "Accept must name text/event-stream";
    return refuse(http.front, { request, response }, { status: 406, reason: "accept", code: -32000, message });
  }
  const place = placeOf(request.headers["last-event-id"]);
  if (place && place.stream !== OUTBOX) return resumeCall(http, session, { request, response }, place);
  const outbox = http.front.sessions.outboxOf(session);
  const { principal: listener } = request;
  new OutboxStream(http.front, { session, outbox, response, listener, after: place?.cursor });
}

/** Ids we gave have the form `<stream>.<number>`; others say nothing to us. */
function placeOf(header: string | undefined): Place | undefined {
  const match = /^([A-Za-z0-9-]+)\.(-1|\d{1,15})$/.exec(header ?? "");
  return match ? { stream: match[1] as string, cursor: Number(match[2]) } : undefined;
}

function resumeCall(http: HttpContext, session: Session, exchange: Refused, place: Place): void {
  const { request, response } = exchange;
  const { principal } = request;
  const run = http.front.runs.find(place.stream);
  if (!run && http.front.cluster) return resumeLost(http, session, exchange, place);
  if (!run || run.call.session?.id !== session.id) return answerGone(http, response);
  const { requestId } = run.call.origin;
  const refusal = () => {
    const error = http.front.returnRefusal?.(run.call, principal);
    return error && errorAnswer(requestId, run.call.method, error, run.id);
  };
  const refused = refusal();
  if (refused !== undefined) return endWith(http, response, refused);
  const former = session.runningCall(requestId);
  if (former instanceof CallReader && former.run === run) former.replaced();
  const outlet = new HttpOutlet(http, response, RESUMED, revisionOf(session.protocol)?.primesStreams === true);
  const meta = run.call.input.at(["_meta"]);
  const reader = new CallReader(
    session,
    requestId,
    run.call.method,
    meta === undefined ? undefined : tokenIn(meta),
    outlet,
  );
  reader.run = run;
  reader.refusal = refusal;
  reader.onEnd = () => noteRead(http, request, run.call);
  outlet.bind(reader);
  if (!run.isEnded) session.addRunning(requestId, reader);
  outlet.open(place.cursor);
  reader.rejoin(run, place.cursor);
}

type Opened = {
  readonly session: Session;
  readonly outbox: Outbox;
  readonly response: HttpResponse;
  readonly listener: Principal;
  /** What the client has seen. */
  readonly after: number | undefined;
};

/** The stream of a session's outbox. A newer one takes its place. */
class OutboxStream implements OutboxWriter, StreamOwner {
  readonly canReplay = true;
  readonly listener: Principal;
  readonly #front: FrontContext;
  readonly #session: Session;
  readonly #outbox: Outbox;
  readonly #stream: SseStream;

  constructor(front: FrontContext, { session, outbox, response, listener, after }: Opened) {
    this.#front = front;
    this.listener = listener;
    this.#session = session;
    this.#outbox = outbox;
    this.#stream = new SseStream(response, front.timers, this);
    if (revisionOf(session.protocol)?.primesStreams) this.#stream.prime(`${OUTBOX}.${after ?? outbox.sent}`, true);
    else this.#stream.greet();
    if (after !== undefined && after < outbox.lost) this.#tellLoss();
    outbox.open(this, after);
  }

  /** What came after the client's place is not all here any more. */
  #tellLoss(): void {
    const data = "Messages were dropped while nobody listened; this stream goes on with the oldest that is left";
    const notice = payload(jsonText({ level: "warning", logger: "isthmus", data }));
    if (passesLevel(this.#session, notice)) this.#stream.send(notificationText("notifications/message", notice));
  }

  write(text: string, sequence: number): boolean {
    return this.#stream.send(text, `${OUTBOX}.${sequence}`);
  }

  end(): void {
    this.#stream.end();
  }

  drained(): void {
    this.#outbox.resume(this);
  }

  left(): void {
    this.#session.lastUsed = this.#front.clock.now();
    this.#outbox.close(this);
  }
}
