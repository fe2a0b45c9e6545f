/** Calls by which the gateway itself subscribes to resources, for clients that are not waiting for an answer. */
import { type Entry, jsonText, payload, type Reader } from "../../contract/index.ts";
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
  for (const { session, subscription } of front.sessions.subscriptionsAt(providers)) {
    await renew(front, session, subscription);
  }
}

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
