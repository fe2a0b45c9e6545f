import { type Principal, payload } from "../../contract/index.ts";
import type { Session } from "../../mechanisms/sessions/index.ts";
import type { FrontContext } from "./front-context.ts";

const NOTHING_DECLARED = payload("{}");
const UNKNOWN_CLIENT = payload('{"name":"unknown","version":"0"}');

/** A session for one request of a client that keeps none. */
export function ephemeralSession(
  front: FrontContext,
  principal: Principal,
  catalog: string,
  protocol: string,
): Session {
  const session = front.sessions.ephemeral({
    voice: front.voice,
    principal,
    catalog,
    protocol,
    capabilities: NOTHING_DECLARED,
    clientInfo: UNKNOWN_CLIENT,
    canBeAsked: false,
  });
  session.isEntered = front.readyCatalogs.has(catalog);
  return session;
}
