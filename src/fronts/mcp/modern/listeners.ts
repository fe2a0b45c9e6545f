/**
 * Who listens to what. Clients of one profile share its session, so a resource is subscribed to once for all of them.
 *
 * Invariants:
 *  1. A listener is in `#open` from its beginning to its end, and in `#bySession` from its acknowledgement on.
 *  2. `#shares` has, by the one subscription that a session has to it, the listeners that want a resource; the server hears of
 *     the first and the last. What the server did not take is wanted by nobody any more.
 */
import {
  copyString,
  type ListedKind,
  type Notice,
  type Principal,
  type Steps,
  type View,
} from "../../../contract/index.ts";
import {
  Budget,
  type Session,
  Shares,
  type Subscription,
  subscriptionsFor,
  subscriptionTo,
} from "../../../mechanisms/sessions/index.ts";
import { LIST_CHANGED } from "../../../wire/mcp/index.ts";
import type { FrontContext } from "../front-context.ts";
import { stampOf } from "../lists.ts";
import { callSubscribe, Sight, type Wanted } from "../subscribe-call.ts";
import { isReached } from "../voice.ts";
import type { Listener } from "./listener.ts";

const MAX_LISTENERS = 10_000;
/** Of resources that all listeners want, each counted once for each listener. */
const MAX_WANTED = 200_000;

/** A resource that listeners of one session want, each under the name that it knows it by. */
type Share = {
  readonly wanted: Wanted;
  readonly isAccepted: Promise<boolean>;
  readonly listeners: Map<Listener, string>;
};

export class Listeners {
  readonly #front: FrontContext;
  readonly #open = new Set<Listener>();
  readonly #perCaller = new Shares(MAX_LISTENERS);
  readonly #bySession = new Map<Session, Set<Listener>>();
  readonly #wanted = new Budget(MAX_WANTED);
  readonly #shares = new Map<Subscription, Share>();

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

  /** Whether one more stream of this caller may want these. */
  mayWant(session: Session, principal: Principal, wanted: readonly Wanted[]): boolean {
    const { sessions } = this.#front;
    const subscriptions = wanted.map(({ subscription }) => subscription);
    return this.#wanted.hasRoom(principal, wanted.length) && sessions.hasRoomFor(session, subscriptions);
  }

  /** Whether the server takes the subscription. Whoever it is taken for gives it back with `unsubscribe`. */
  subscribe(listener: Listener, wanted: Wanted): Promise<boolean> {
    const { session } = listener;
    if (listener.isOver) return Promise.resolve(false);
    // It stands before the call is made: the first update may come before its answer.
    this.#front.sessions.subscribe(session, wanted.subscription);
    const subscription = subscriptionTo(session, wanted.subscription) ?? wanted.subscription;
    const share = this.#shares.get(subscription) ?? this.#share(session, { ...wanted, subscription });
    const { shown } = wanted.subscription;
    if (!share.listeners.has(listener)) {
      this.#wanted.take(listener.principal, 1);
      share.listeners.set(listener, shown === subscription.shown ? subscription.shown : copyString(shown));
      listener.wants(subscription);
    }
    return share.isAccepted;
  }

  #share(session: Session, wanted: Wanted): Share {
    const isAccepted = callSubscribe(this.#front, session, wanted, "resources/subscribe");
    const share: Share = { wanted, isAccepted, listeners: new Map() };
    this.#shares.set(wanted.subscription, share);
    void isAccepted.then((isTaken) => {
      if (!isTaken) for (const listener of [...share.listeners.keys()]) listener.gives(wanted.subscription);
    });
    return share;
  }

  unsubscribe(listener: Listener, subscription: Subscription): void {
    const share = this.#shares.get(subscription);
    if (!share?.listeners.delete(listener)) return;
    this.#wanted.giveBack(listener.principal, 1);
    if (share.listeners.size > 0) return;
    const { session } = listener;
    this.#shares.delete(subscription);
    this.#front.sessions.unsubscribe(session, subscription);
    if (session.isEnded) return;
    void share.isAccepted.then((isAccepted) => {
      if (isAccepted && !subscriptionTo(session, subscription))
        void callSubscribe(this.#front, session, share.wanted, "resources/unsubscribe");
    });
  }

  /** A resource has changed that somebody with this session subscribed to. Each hears of it once, as it knows it. */
  updated(session: Session, notice: Notice): void {
    if (!("resource" in notice.to) || !isReached(this.#front.catalog, session, notice.from)) return;
    const { resource: uri } = notice.to;
    const listening = this.#bySession.get(session);
    const told = new Set<Listener>();
    const sight = new Sight();
    for (const subscription of subscriptionsFor(session, notice.from, uri)) {
      for (const [listener, shown] of this.#shares.get(subscription)?.listeners ?? []) {
        if (told.has(listener) || !listening?.has(listener)) continue;
        told.add(listener);
        const known = { ...subscription, shown };
        if (sight.tells(this.#viewOf(listener), known, uri)) listener.updated(notice, uri, known);
      }
    }
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
    // All other processes share this session: what one of them has seen, another may not have.
    if (session.isPeer) return [...notice.to.catalog];
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

  /** Whoever may not see a resource any more does not hear of it either. */
  *dropUnreachable(): Steps<void> {
    const sight = new Sight();
    for (const listener of [...this.#open]) {
      for (const subscription of listener.wanted) {
        if (!sight.sees(this.#viewOf(listener), subscription)) listener.gives(subscription);
        yield;
      }
    }
  }

  #viewOf({ session, principal }: Listener): View {
    return this.#front.catalog.view(session.catalog, principal, session);
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
