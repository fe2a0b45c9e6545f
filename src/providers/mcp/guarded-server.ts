/** Calls on a server that wants credentials: as whom they are made, and what happens while nobody has allowed them. */
import {
  GatewayError,
  type Principal,
  payload,
  type SessionRef,
  type UpstreamCredentials,
} from "../../contract/index.ts";
import { revision20260728 } from "../../wire/mcp/2026-07-28/index.ts";
import type { Authorization } from "./authorized-client.ts";
import { isConsentRequired } from "./consent-question.ts";
import type { RunningCall } from "./running-call.ts";
import type { SessionSlot } from "./session-slot.ts";
import { SIGN_IN_TOOL, signedIn } from "./sign-in.ts";

/** Each client speaks for itself, and the shared session for whoever everybody is. */
export function authorizationOf(
  credentials: UpstreamCredentials | undefined,
  client: SessionRef | undefined,
): Authorization | undefined {
  const holder = client ? { principal: client.principal, session: client.id } : credentials?.common;
  return credentials && holder && { credentials, holder };
}

/** Whoever has credentials of their own never shares a session. */
export function isApart(credentials: UpstreamCredentials | undefined, { id }: Principal): boolean {
  return credentials?.isPerCaller === true && credentials.common?.principal.id !== id;
}

/** The session of a client that has none: what it does is done in one for all it does. */
export function apart(session: SessionRef | undefined, principal: Principal): SessionRef {
  if (session && !session.isEphemeral) return session;
  return {
    id: `principal:${principal.id}`,
    principal,
    catalog: session?.catalog ?? "",
    protocol: session?.protocol ?? revision20260728.version,
    capabilities: payload("{}"),
    clientInfo: session?.clientInfo ?? payload("{}"),
    canBeAsked: false,
    isEphemeral: true,
  };
}

/** Nobody had allowed us to use the server when the call was made: perhaps somebody has since. */
export function startAllowed(slot: SessionSlot, running: RunningCall): void {
  const { call } = running;
  const isOurs = call.method === "tools/call" && call.target.name === SIGN_IN_TOOL;
  slot.allowed(call.deadline).then(
    (session) => (isOurs ? running.endWith(signedIn(slot.provider)) : running.start(session)),
    (error) => onUnavailable(slot, running, error),
  );
}

/** There is no session for the call. */
export function onUnavailable(slot: SessionSlot, running: RunningCall, error: unknown): void {
  if (isConsentRequired(error)) running.seekConsent(error, slot.consent, () => startAllowed(slot, running));
  else running.fail(GatewayError.from(error));
}
