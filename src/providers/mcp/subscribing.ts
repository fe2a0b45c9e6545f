/** Subscriptions to resources: what the server hears of them, and what is answered here. */
import { type Call, GatewayError, jsonText, payload } from "../../contract/index.ts";
import { EMPTY_OBJECT } from "./empty-object.ts";
import type { RunningCall } from "./running-call.ts";
import type { SessionSlot } from "./session-slot.ts";
import { uriOf } from "./subscriptions.ts";
import type { UpstreamSession } from "./upstream-session.ts";
import { within } from "./within.ts";

/** How long a subscription waits for a server of 2026-07-28 to acknowledge it. */
const ACK_MS = 2000;

export function subscribe(call: Call, slot: SessionSlot, running: RunningCall): void {
  if (slot.ready) subscribeOn(slot.ready, call, slot, running);
  else
    slot.acquire(call.deadline).then(
      (session) => subscribeOn(session, call, slot, running),
      (error) => running.fail(GatewayError.from(error)),
    );
}

function subscribeOn(session: UpstreamSession, call: Call, slot: SessionSlot, running: RunningCall): void {
  if (session.modern) void listenTo(session, call, slot, running);
  else if (isAnsweredHere(call, slot)) running.endWith(EMPTY_OBJECT);
  else {
    running.start(session);
    void remember(call, slot, running);
  }
}

/** A server of 2026-07-28 knows no subscriptions, only what we listen to. */
async function listenTo(session: UpstreamSession, call: Call, slot: SessionSlot, running: RunningCall): Promise<void> {
  const uri = uriOf(call.input);
  const holder = holderOf(call);
  if (session.agreement?.capabilities.at(["resources", "subscribe"]) !== "true")
    return running.endWith(payload(jsonText({ code: -32601, message: "The server has no subscriptions." })), "fault");
  if (uri !== undefined && holder !== undefined) {
    if (call.method === "resources/unsubscribe") slot.subscriptions.drop(uri, holder);
    else slot.subscriptions.hold(uri, holder);
    const heard = session.modern?.listening.update(slot.subscriptions.uris);
    await within(slot.timers, ACK_MS, heard ?? Promise.resolve());
  }
  running.endWith(EMPTY_OBJECT);
}

function holderOf({ session }: Call): string | undefined {
  return session && !session.isEphemeral ? session.id : undefined;
}

/** On a shared session the server hears only of the first subscription to a resource, and of the end of the last. */
function isAnsweredHere(call: Call, slot: SessionSlot): boolean {
  const uri = uriOf(call.input);
  const holder = holderOf(call);
  if (slot.client || holder === undefined || uri === undefined) return false;
  if (call.method === "resources/unsubscribe") return !slot.subscriptions.drop(uri, holder);
  if (call.method !== "resources/subscribe" || slot.subscriptions.isNew(uri)) return false;
  slot.subscriptions.hold(uri, holder);
  return true;
}

async function remember(call: Call, slot: SessionSlot, running: RunningCall): Promise<void> {
  const uri = uriOf(call.input);
  const holder = holderOf(call);
  if (holder === undefined || uri === undefined) return;
  if (call.method === "resources/unsubscribe") slot.subscriptions.drop(uri, holder);
  else if (await running.gotResult()) slot.subscriptions.hold(uri, holder);
  slot.onWish();
}
