import type { Session, Subscription } from "./session.ts";

/** Who wants to hear about which resource of which provider. An update of a part counts for the whole. */
export class Subscribers {
  readonly #byResource = new Map<string, Set<Session>>();

  /** False when the session had it already. */
  add(session: Session, subscription: Subscription): boolean {
    const key = keyOf(subscription.provider, subscription.own);
    session.subscriptions ??= new Map();
    if (session.subscriptions.has(key)) return false;
    session.subscriptions.set(key, subscription);
    const sessions = this.#byResource.get(key) ?? new Set();
    this.#byResource.set(key, sessions.add(session));
    return true;
  }

  remove(session: Session, subscription: Subscription): void {
    this.#remove(session, keyOf(subscription.provider, subscription.own));
  }

  removeAll(session: Session): void {
    for (const key of [...(session.subscriptions?.keys() ?? [])]) this.#remove(session, key);
  }

  #remove(session: Session, key: string): void {
    session.subscriptions?.delete(key);
    const sessions = this.#byResource.get(key);
    sessions?.delete(session);
    if (sessions?.size === 0) this.#byResource.delete(key);
  }

  /** Sessions subscribed to `uri` itself or to something it is a part of, each once. */
  of(provider: string, uri: string): Set<Session> {
    const found = new Set<Session>();
    for (let end = uri.length; end > 0; end = uri.lastIndexOf("/", end - 1)) {
      for (const session of this.#byResource.get(keyOf(provider, uri.slice(0, end))) ?? []) found.add(session);
    }
    return found;
  }
}

/** The session's own subscription that `uri` falls under. */
export function subscriptionFor(session: Session, provider: string, uri: string): Subscription | undefined {
  for (let end = uri.length; end > 0; end = uri.lastIndexOf("/", end - 1)) {
    const found = session.subscriptions?.get(keyOf(provider, uri.slice(0, end)));
    if (found) return found;
  }
  return undefined;
}

function keyOf(provider: string, uri: string): string {
  return `${provider} ${uri}`;
}
