import { copyString } from "../../contract/index.ts";
import type { Budget } from "./budget.ts";
import type { Session, Subscription } from "./session.ts";

/** Nobody can subscribe to what is longer. */
const MAX_URI_LENGTH = 8192;
/** What it is a part of is looked for only so deep: each is one more text to look up, and the server says how many. */
const MAX_DEPTH = 64;

/** What one costs beside its texts: its places in the tables here and in the front. */
const SUBSCRIPTION_BYTES = 512;
/** Characters of the URIs of one session: all of them are written down whenever the session is. */
export const MAX_SESSION_TEXT = 256 * 1024;

/** Texts that everybody who subscribed to the same shares. */
type Resource = { readonly key: string; readonly own: string; readonly sessions: Set<Session> };

/** Who wants to hear about which resource of which provider. An update of a part counts for the whole. */
export class Subscribers {
  readonly #byProvider = new Map<string, Map<string, Resource>>();
  readonly #budget: Budget;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  /** Whether the session, and its caller, may have these, too. */
  hasRoomFor(session: Session, wanted: readonly Subscription[]): boolean {
    const fresh = wanted.filter((one) => !session.subscriptions?.has(keyOf(one.provider, one.own)));
    if (fresh.length === 0) return true;
    const text = fresh.reduce((sum, one) => sum + textLength(one), 0);
    // Nothing is written down of those that have no name.
    if (!session.isUnnamed && session.subscribedText + text > MAX_SESSION_TEXT) return false;
    return this.#budget.hasRoom(session.principal, sumOf(fresh));
  }

  /** False when the session had it already. */
  add(session: Session, { provider, own, shown }: Subscription): boolean {
    const resource = this.#resource(provider, own);
    session.subscriptions ??= new Map();
    if (session.subscriptions.has(resource.key)) return false;
    const kept = { provider, own: resource.own, shown: shown === own ? resource.own : copyString(shown) };
    session.subscriptions.set(resource.key, kept);
    resource.sessions.add(session);
    session.subscribedText += textLength(kept);
    this.#budget.take(session.principal, sumOf([kept]));
    return true;
  }

  #resource(provider: string, own: string): Resource {
    const byUri = this.#byProvider.get(provider) ?? new Map<string, Resource>();
    this.#byProvider.set(provider, byUri);
    const known = byUri.get(own);
    if (known) return known;
    const resource = { key: copyString(keyOf(provider, own)), own: copyString(own), sessions: new Set<Session>() };
    byUri.set(resource.own, resource);
    return resource;
  }

  /** False when the session had none. */
  remove(session: Session, { provider, own }: Subscription): boolean {
    const key = keyOf(provider, own);
    const kept = session.subscriptions?.get(key);
    if (!kept) return false;
    session.subscriptions?.delete(key);
    session.subscribedText -= textLength(kept);
    this.#budget.giveBack(session.principal, sumOf([kept]));
    const byUri = this.#byProvider.get(provider);
    const sessions = byUri?.get(own)?.sessions;
    sessions?.delete(session);
    if (sessions?.size === 0) byUri?.delete(own);
    if (byUri?.size === 0) this.#byProvider.delete(provider);
    return true;
  }

  removeAll(session: Session): void {
    for (const subscription of [...(session.subscriptions?.values() ?? [])]) this.remove(session, subscription);
  }

  /** Sessions subscribed to `uri` itself or to something it is a part of, each once. */
  of(provider: string, uri: string): Set<Session> {
    const found = new Set<Session>();
    const byUri = this.#byProvider.get(provider);
    for (const whole of byUri ? wholesOf(uri) : [])
      for (const session of byUri?.get(whole)?.sessions ?? []) found.add(session);
    return found;
  }
}

/** The session's own subscription to just this. */
export function subscriptionTo(session: Session, { provider, own }: Subscription): Subscription | undefined {
  return session.subscriptions?.get(keyOf(provider, own));
}

/** The session's own subscriptions that `uri` falls under, the narrowest first. */
export function* subscriptionsFor(session: Session, provider: string, uri: string): Iterable<Subscription> {
  if (!session.subscriptions?.size) return;
  for (const whole of wholesOf(uri)) {
    const found = session.subscriptions.get(keyOf(provider, whole));
    if (found) yield found;
  }
}

/** The narrowest of them. */
export function subscriptionFor(session: Session, provider: string, uri: string): Subscription | undefined {
  const [found] = subscriptionsFor(session, provider, uri);
  return found;
}

function textLength({ own, shown }: Subscription): number {
  return own.length + (shown === own ? 0 : shown.length);
}

/** What they take in memory. A copied text has two bytes for each character; the key of a table holds the URI once more. */
function sumOf(subscriptions: readonly Subscription[]): number {
  const bytesOf = (one: Subscription) => SUBSCRIPTION_BYTES + 2 * (one.own.length + textLength(one));
  return subscriptions.reduce((sum, one) => sum + bytesOf(one), 0);
}

/** The URI and what it may be a part of, the longest first. */
export function wholesOf(uri: string): readonly string[] {
  if (uri.length > MAX_URI_LENGTH) return [];
  const wholes: string[] = [];
  for (let end = uri.indexOf("/"); end >= 0 && wholes.length < MAX_DEPTH; end = uri.indexOf("/", end + 1))
    if (end > 0) wholes.push(uri.slice(0, end));
  return [...wholes, uri].reverse();
}

function keyOf(provider: string, uri: string): string {
  return `${provider} ${uri}`;
}
