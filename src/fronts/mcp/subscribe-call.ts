/** Calls by which the gateway itself subscribes to resources, for clients that are not waiting for an answer. */
import {
  type Catalog,
  type Entry,
  jsonText,
  PEER,
  type Principal,
  payload,
  type Reader,
  type Steps,
  type View,
} from "../../contract/index.ts";
import type { Session, Subscription } from "../../mechanisms/sessions/index.ts";
import type { FrontContext } from "./front-context.ts";

const SUBSCRIBE_MS = 10_000;

/** A resource that somebody wants to hear about, and where it is. */
export type Wanted = { readonly entry: Entry; readonly subscription: Subscription };

/** Resolves with whether the server took it. */
export function callSubscribe(
  front: FrontContext,
  session: Session,
  { entry, subscription }: Wanted,
  method: "resources/subscribe" | "resources/unsubscribe",
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const reader: Reader = {
    keeps: false,
    take(event) {
      if (event.type === "end") resolve(event.outcome === "result");
      else if (event.type === "error") resolve(false);
      return true;
    },
  };
  const input = payload(`{"uri":${jsonText(subscription.own)}}`);
  const origin = { front: "mcp", protocol: session.protocol, requestId: "null" };
  const { principal } = session;
  const call = { verb: "subscribe", method, input, principal, session, origin, life: "detached" } as const;
  front.runs.start({ entry, ...call, timeoutMs: SUBSCRIBE_MS }, reader);
  return promise;
}

/** Clients keep their subscriptions when a server is replaced: its successor hears of them, one after the other. */
export async function subscribeAgain(front: FrontContext, providers: ReadonlySet<string>): Promise<void> {
  for (const { session, subscription } of front.sessions.subscriptions()) {
    if (providers.has(subscription.provider)) await renew(front, session, subscription);
  }
}

/**
 * Callers may reach something else than before: whoever may not see a resource any more does not hear of it either, and its
 * server learns that they do not listen. Streams of 2026-07-28 see to their own.
 */
export function* dropUnreachable(front: FrontContext): Steps<void> {
  const sight = new Sight();
  for (const session of front.sessions.list()) {
    yield;
    if (session.voice !== front.voice || !session.subscriptions) continue;
    for (const subscription of [...session.subscriptions.values()]) {
      const view = front.catalog.view(session.catalog, session.principal, session);
      if (sight.sees(view, subscription)) continue;
      if (!front.sessions.unsubscribe(session, subscription)) continue;
      front.sessions.save(session)?.catch(() => undefined);
      giveUp(front, session, subscription);
      yield;
    }
  }
}

/** Tells the server. Whether its client may still see the resource does not matter for that. */
function giveUp(front: FrontContext, session: Session, subscription: Subscription): void {
  const entry = front.catalog.view(session.catalog, PEER, session).resolve("resource", subscription.shown);
  if (entry?.target.provider !== subscription.provider) return;
  void callSubscribe(front, session, { entry, subscription }, "resources/unsubscribe");
}

function isSeen(
  catalog: Catalog,
  session: Session,
  { shown, provider }: Subscription,
  by = session.principal,
): boolean {
  return heardFrom(catalog.view(session.catalog, by, session), shown) === provider;
}

/** The server from which whoever has this view hears of the resource. */
function heardFrom(view: View, shown: string): string | undefined {
  const entry = view.resolve("resource", shown);
  return entry && view.hears?.(entry) !== false ? entry.target.provider : undefined;
}

/** `isSeen` of many, one after the other: all who have the same view are judged once for each resource. Not to be kept. */
export class Sight {
  readonly #known = new Map<View, Map<string, string | undefined>>();
  readonly #parts = new Map<View, Map<string, boolean>>();

  sees(view: View, { shown, provider }: Subscription): boolean {
    const known = this.#known.get(view) ?? new Map<string, string | undefined>();
    this.#known.set(view, known);
    if (!known.has(shown)) known.set(shown, heardFrom(view, shown));
    return known.get(shown) === provider;
  }

  /** `isTold` of many. */
  tells(view: View, subscription: Subscription, uri: string): boolean {
    if (!this.sees(view, subscription)) return false;
    const known = this.#parts.get(view) ?? new Map<string, boolean>();
    this.#parts.set(view, known);
    const key = `${subscription.own} ${subscription.provider}`;
    const told = known.get(key) ?? mayHearOf(view, subscription, uri);
    known.set(key, told);
    return told;
  }
}

/**
 * Whether a client is told of an update: it sees what it has subscribed to, and could see what of it has changed. Of a part that is denied to
 * it it hears nothing, not even that something of the whole has changed: there would be something to tell of.
 */
export function isTold(
  catalog: Catalog,
  session: Session,
  { subscription, uri, by = session.principal }: Update,
): boolean {
  if (!isSeen(catalog, session, subscription, by)) return false;
  return mayHearOf(catalog.view(session.catalog, by, session), subscription, uri);
}

function mayHearOf(view: View, { own, provider }: Subscription, uri: string): boolean {
  return uri === own || view.hearsOf?.(provider, uri) !== false;
}

/** `uri`: as its server calls what has changed. `by`: who listens, where that is somebody else than the session's caller. */
type Update = { readonly subscription: Subscription; readonly uri: string; readonly by?: Principal };

/** The servers of this process hear of what a client subscribed to in another. */
export async function subscribeAll(front: FrontContext, session: Session): Promise<void> {
  for (const subscription of [...(session.subscriptions?.values() ?? [])]) await renew(front, session, subscription);
}

async function renew(front: FrontContext, session: Session, subscription: Subscription): Promise<void> {
  if (session.isEnded) return;
  const entry = front.catalog.view(session.catalog, session.principal, session).resolve("resource", subscription.shown);
  if (entry?.target.provider !== subscription.provider) return;
  await callSubscribe(front, session, { entry, subscription }, "resources/subscribe");
}
