/**
 * Who listens to what. Clients of one profile share its session, so a resource is subscribed to once for all of them.
 *
 * Invariants:
 *  1. A listener is in `#open` from its beginning to its end, and in `#bySession` from its acknowledgement on.
 *  2. `#shares` counts the listeners of a session that want a resource; the server hears of the first and the last.
 */
import type { ListedKind, Notice, Principal } from "../../../contract/index.ts";
import { type Session, Shares, type Subscription } from "../../../mechanisms/sessions/index.ts";
import { LIST_CHANGED } from "../../../wire/mcp/index.ts";
import type { FrontContext } from "../front-context.ts";
import { stampOf } from "../lists.ts";
import { callSubscribe, type Wanted } from "../subscribe-call.ts";
import { isReached } from "../voice.ts";
import type { Listener } from "./listener.ts";

const MAX_LISTENERS = 10_000;

type Share = { count: number; readonly isAccepted: Promise<boolean> };

export class Listeners {
  readonly #front: FrontContext;
  readonly #open = new Set<Listener>();
  readonly #perCaller = new Shares(MAX_LISTENERS);
  readonly #bySession = new Map<Session, Set<Listener>>();
  readonly #shares = new Map<string, Share>();

  constructor(front: FrontContext) {
    this.#front = front;
  }

  hasRoomFor(principal: Principal): boolean {
    return this.#open.size < MAX_LISTENERS && !this.#perCaller.isSpent(principal);
  }

  open(listener: Listener): void {
    this.#open.add(listener);
    this.#perCaller.take(listener.principal);
  }

  add(listener: Listener): void {
    const listeners = this.#bySession.get(listener.session) ?? new Set();
    this.#bySession.set(listener.session, listeners.add(listener));
  }

  remove(listener: Listener): void {
    if (this.#open.delete(listener)) this.#perCaller.giveBack(listener.principal);
    const listeners = this.#bySession.get(listener.session);
    listeners?.delete(listener);
    if (listeners?.size === 0) this.#bySession.delete(listener.session);
  }

  /** Whether the server takes the subscription. Every call of this is made up for by `unsubscribe`. */
  subscribe(session: Session, wanted: Wanted): Promise<boolean> {
    const key = keyOf(session, wanted.subscription);
    const known = this.#shares.get(key);
    if (known) {
      known.count++;
      return known.isAccepted;
    }
    // It stands before the call is made: the first update may come before its answer.
    this.#front.sessions.subscribe(session, wanted.subscription);
    const isAccepted = callSubscribe(this.#front, session, wanted, "resources/subscribe");
    this.#shares.set(key, { count: 1, isAccepted });
    return isAccepted;
  }

  unsubscribe(session: Session, wanted: Wanted): void {
    const key = keyOf(session, wanted.subscription);
    const share = this.#shares.get(key);
    if (!share || --share.count > 0) return;
    this.#shares.delete(key);
    this.#front.sessions.unsubscribe(session, wanted.subscription);
    if (session.isEnded) return;
    void share.isAccepted.then((isAccepted) => {
      if (isAccepted && !this.#shares.has(key))
        void callSubscribe(this.#front, session, wanted, "resources/unsubscribe");
    });
  }

  /** A resource has changed that somebody with this session subscribed to. */
  updated(session: Session, notice: Notice): void {
    if (!("resource" in notice.to) || !isReached(this.#front.catalog, session, notice.from)) return;
    for (const listener of this.#bySession.get(session) ?? []) listener.updated(notice, notice.to.resource);
  }

  /**
   * Lists have changed. What one profile's session alone has seen is told to all listeners of the same caller: servers
   * often tell only the session in which the change was made, and lists of this era are not a session's own.
   */
  listChanged(session: Session, notice: Notice): void {
    if (!session.isEntered || !("catalog" in notice.to)) return;
    const methods = new Set(this.#changedKinds(session, notice).map((kind) => LIST_CHANGED[kind]));
    if (methods.size === 0) return;
    const isOwn = notice.to.session !== undefined;
    for (const listener of isOwn ? this.#peersOf(session) : (this.#bySession.get(session) ?? [])) {
      listener.listChanged(methods);
    }
  }

  #changedKinds(session: Session, notice: Notice): ListedKind[] {
    if (!("catalog" in notice.to)) return [];
    const view = this.#front.catalog.view(session.catalog, session.principal, session);
    const isShown = view.providers.some(({ id }) => id === notice.from);
    return notice.to.catalog.filter((kind) => {
      const stamp = stampOf(view.list(kind));
      const seen = session.seen?.[kind];
      // A server that was taken out is missing from what was seen before, and only there.
      if (seen === stamp || (seen === undefined && !isShown)) return false;
      session.seen ??= {};
      session.seen[kind] = stamp;
      return true;
    });
  }

  *#peersOf(session: Session): Iterable<Listener> {
    for (const [other, listeners] of this.#bySession) {
      if (other.catalog === session.catalog && other.principal.id === session.principal.id) yield* listeners;
    }
  }

  /** Ends the streams of these callers. */
  drop(isMeant: (principal: Principal) => boolean): void {
    for (const listener of [...this.#open]) if (isMeant(listener.principal)) listener.end();
  }

  /** Ends every stream with its last word. Safe to call twice. */
  close(): void {
    for (const listeners of [...this.#bySession.values()]) for (const listener of [...listeners]) listener.end();
  }
}

function keyOf(session: Session, { provider, own }: Subscription): string {
  return `${session.id} ${provider} ${own}`;
}
