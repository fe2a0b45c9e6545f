/** An answer that goes on as things happen: server-sent events. */
import {
  GatewayError,
  type HttpResponse,
  type OperationAnswer,
  type Principal,
  type Timers,
  textOf,
} from "../../contract/index.ts";
import { Shares } from "../../mechanisms/sessions/index.ts";

type Events = NonNullable<OperationAnswer<unknown>["events"]>;

const HEARTBEAT_MS = 15_000;
/** What may wait for a client that does not read. */
const MAX_UNSENT = 256;

/** Of all callers together; one that is known by name has a quarter at most. */
const MAX_STREAMS = 256;

/** Every open one, so that none outlives the front. */
export function createEventStreams(timers: Timers) {
  const open = new Map<() => void, Principal>();
  const shares = new Shares(MAX_STREAMS);
  return {
    /** Throws OVERLOADED where there are too many. */
    serve(response: HttpResponse, events: Events, principal: Principal): void {
      if (open.size >= MAX_STREAMS || shares.isSpent(principal)) {
        const whose = open.size >= MAX_STREAMS ? "are" : "of yours are";
        throw new GatewayError("OVERLOADED", {
          message: `Too many streams of events ${whose} open here; end one, and try again.`,
        });
      }
      const end = serveEvents(response, events, timers, () => {
        if (open.delete(end)) shares.giveBack(principal);
      });
      if (response.isOver) return;
      open.set(end, principal);
      shares.take(principal);
    },
    /** Ends those of these callers. */
    drop(isMeant: (principal: Principal) => boolean): void {
      for (const [end, principal] of [...open]) if (isMeant(principal)) end();
    },
    close(): void {
      for (const end of [...open.keys()]) end();
    },
  };
}

function serveEvents(response: HttpResponse, events: Events, timers: Timers, onEnd: () => void): () => void {
  const listening = new AbortController();
  let unsent = 0;
  let isFull = false;
  const stop = () => {
    if (listening.signal.aborted) return;
    heartbeat.cancel();
    listening.abort();
    onEnd();
  };
  const send = (text: string) => {
    if (listening.signal.aborted) return;
    // A client that stands still is cut off: it comes back and is told from then on.
    if (isFull && ++unsent > MAX_UNSENT) {
      stop();
      response.cut();
      return;
    }
    isFull = !response.write(textOf(text));
  };
  response.onDrain = () => {
    isFull = false;
    unsent = 0;
  };
  response.onClose = stop;
  response.open(200, "Content-Type: text/event-stream\r\nCache-Control: no-store\r\nX-Accel-Buffering: no\r\n");
  const beat = () => {
    send(": \n\n");
    heartbeat = timers.after(HEARTBEAT_MS, beat);
  };
  let heartbeat = timers.after(HEARTBEAT_MS, beat);
  send(": \n\n");
  events(
    (event, data) => send(`event: ${oneLine(event)}\ndata: ${data.replace(/\r\n|\r|\n/g, "\ndata: ")}\n\n`),
    listening.signal,
  );
  return () => {
    stop();
    response.end();
  };
}

function oneLine(text: string): string {
  return text.replace(/[\r\n]/g, " ");
}
