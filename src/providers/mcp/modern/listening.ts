/**
 * What a server of 2026-07-28 says outside calls comes on one request that stays open. When what we want to hear changes,
 * a new one is opened first and the old one closed once the server has acknowledged it, so that nothing is missed.
 */
import { LISTED_KINDS, type Payload, payload, type Timer } from "../../../contract/index.ts";
import { EMPTY_OBJECT } from "../empty-object.ts";
import type { UpstreamSession } from "../upstream-session.ts";
import { listenFilter } from "./listen-filter.ts";
import { type ListenEnd, ListenRequest } from "./listen-request.ts";
import type { ModernSide } from "./modern-side.ts";

const MIN_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 30_000;

// Invariants:
//  1. At most one request is acknowledged (`#current`) and at most one waits for that (`#next`).
//  2. `#timer` runs only while there is neither.
export class Listening {
  readonly #session: UpstreamSession;
  readonly #modern: ModernSide;
  #uris: readonly string[] = [];
  #current: ListenRequest | undefined;
  #next: ListenRequest | undefined;
  /** What is wanted since it was opened. */
  #after: Promise<void> | undefined;
  #timer: Timer | undefined;
  #tries = 0;
  #wasHeard = false;
  #hasMissed = false;
  #isClosed = false;

  constructor(session: UpstreamSession, modern: ModernSide) {
    this.#session = session;
    this.#modern = modern;
    // A server of a home may be down when its lists are read first, and up before we listen.
    this.#hasMissed = session.context.isHome;
  }

  /** The server has acknowledged that we listen. */
  get isHeard(): boolean {
    return this.#current !== undefined;
  }

  /** Listens for changes of lists and of these resources. Resolves when the server has acknowledged, or will not. */
  async update(uris: readonly string[]): Promise<void> {
    this.#uris = uris;
    if (this.#isClosed) return;
    // Each request names all of them: however many come at once, they go with the one after this.
    if (this.#next) {
      this.#after ??= this.#next.answered.then(() => {
        this.#after = undefined;
        return this.update(this.#uris);
      });
      return this.#after;
    }
    const filter = this.#filter();
    if (this.#current?.filter === filter) return;
    this.#timer?.cancel();
    if (filter === "{}") {
      this.#closeRequest(this.#current);
      this.#current = undefined;
    } else await this.#open(filter);
  }

  #filter(): string {
    return listenFilter(this.#session.agreement?.capabilities ?? EMPTY_OBJECT, this.#uris);
  }

  #open(filter: string): Promise<void> {
    const session = this.#session;
    const request = new ListenRequest(session, filter, { ack: this.#onAck, end: this.#onEnd });
    this.#next = request;
    request.id = session.begin(request);
    request.open((params: Payload) => this.#modern.dress("subscriptions/listen", params));
    return request.answered;
  }

  readonly #onAck = (request: ListenRequest): void => {
    if (this.#next !== request) return;
    const former = this.#current;
    this.#current = request;
    this.#next = undefined;
    this.#tries = 0;
    this.#wasHeard = true;
    this.#closeRequest(former);
    if (this.#hasMissed) this.#session.context.onListChanged(LISTED_KINDS);
    this.#hasMissed = false;
  };

  readonly #onEnd = (request: ListenRequest, end: ListenEnd): void => {
    if (this.#next === request) this.#next = undefined;
    if (this.#current === request) this.#current = undefined;
    if (this.#session.isOver || this.#isClosed || this.#next || this.#current) return;
    if (end === "over") this.#openLater();
    else if (this.#wasHeard) void this.#confirmEra();
    else this.#session.context.log.debug("server does not let us listen", { filter: request.filter });
  };

  /** A server that let us listen before may have been replaced by one of the 2025 era. */
  async #confirmEra(): Promise<void> {
    const session = this.#session;
    const isKnown = await session.isKnown();
    if (session.isOver || this.#isClosed) return;
    if (isKnown) this.#openLater();
    else await session.context.renew(session).catch(() => undefined); // the slot has told
  }

  #openLater(): void {
    this.#hasMissed = true;
    const { timers } = this.#session.context;
    const pause = Math.min(MIN_PAUSE_MS * 2 ** this.#tries, MAX_PAUSE_MS);
    this.#tries = Math.min(this.#tries + 1, 8);
    this.#timer = timers.after(pause * (0.75 + Math.random() / 2), () => void this.#open(this.#filter()));
  }

  /** The server acknowledged a request, where requests have no streams. `id`: as JSON text, if it said which. */
  onAck(id: string | undefined): void {
    if (id === undefined || this.#next?.id === id) this.#next?.acknowledge();
  }

  /** The server ends a request by a notification. */
  onCancelled(id: string): void {
    for (const request of [this.#next, this.#current]) if (request?.id === id) request.close("over");
  }

  #closeRequest(request: ListenRequest | undefined): void {
    if (!request) return;
    request.close();
    if (this.#session.transport.hasStreams || this.#session.isOver) return;
    void this.#modern.notify("notifications/cancelled", payload(`{"requestId":${request.id}}`));
  }

  /** The session is over. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }
}
