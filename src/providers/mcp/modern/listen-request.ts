import { type Payload, payload, type Timer } from "../../../contract/index.ts";
import { type Message, requestText } from "../../../wire/jsonrpc/index.ts";
import { routeNotification } from "../incoming.ts";
import type { RequestSink, RequestStream, UpstreamFailure } from "../transport.ts";
import type { UpstreamSession } from "../upstream-session.ts";
import { ACKNOWLEDGED } from "./listen-filter.ts";

/** How long a server may take to acknowledge. */
const ACK_MS = 10_000;

/** How a request ended: by the server's own end or for want of a connection, or because the server will not have it. */
export type ListenEnd = "over" | "refused";

/** One `subscriptions/listen`: open until the server ends it, or we do. */
export class ListenRequest implements RequestSink {
  id = "";
  readonly isStanding = true;
  /** What it asks for, as JSON text. */
  readonly filter: string;
  /** Resolves when the server has acknowledged, or when none can come any more. */
  readonly answered: Promise<void>;
  isAcknowledged = false;
  readonly #session: UpstreamSession;
  readonly #timer: Timer;
  readonly #onAck: (request: ListenRequest) => void;
  readonly #onEnd: (request: ListenRequest, end: ListenEnd) => void;
  readonly #resolve: () => void;
  #stream: RequestStream | undefined;
  #isOver = false;

  constructor(
    session: UpstreamSession,
    filter: string,
    on: { ack: (request: ListenRequest) => void; end: (request: ListenRequest, end: ListenEnd) => void },
  ) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.answered = promise;
    this.filter = filter;
    this.#session = session;
    this.#onAck = on.ack;
    this.#onEnd = on.end;
    this.#resolve = resolve;
    this.#timer = session.context.timers.after(ACK_MS, () => this.close("over"));
  }

  /** `dress`: makes a request of its params. */
  open(dress: (params: Payload) => { params: Payload; head: string }): void {
    const { params, head } = dress(payload(`{"notifications":${this.filter}}`));
    const text = requestText(this.id, "subscriptions/listen", params);
    this.#stream = this.#session.transport.request(text, this, { head, isLong: true });
  }

  onMessage(message: Message): void {
    if (message.method === ACKNOWLEDGED) this.acknowledge();
    else if (message.kind === "notification") routeNotification(this.#session, message, undefined);
    else if (message.kind === "response") this.#end(message.outcome === "fault" ? "refused" : "over");
  }

  acknowledge(): void {
    if (this.#isOver || this.isAcknowledged) return;
    this.isAcknowledged = true;
    this.#timer.cancel();
    this.#onAck(this);
    this.#resolve();
  }

  onFailure({ kind, isTurnedAway = false }: UpstreamFailure): void {
    this.close(isTurnedAway ? "refused" : "over");
    if (kind === "unreachable") this.#session.onUnheard();
  }

  /** Stops listening. Where requests have no streams, the server must be told by whoever calls this. */
  close(end?: ListenEnd): void {
    if (this.#isOver) return;
    this.#end(end);
    this.#stream?.abort();
  }

  #end(end: ListenEnd | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timer.cancel();
    this.#session.forget(this.id);
    this.#resolve();
    if (end) this.#onEnd(this, end);
  }
}
