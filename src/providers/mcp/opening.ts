/** The first exchange with a server: which era it speaks, and in the 2025 era the handshake. Rejects with UpstreamFault. */
import { payload } from "../../contract/index.ts";
import { type Message, notificationText } from "../../wire/jsonrpc/index.ts";
import { type Agreement, initializeParams, readAgreement } from "./handshake.ts";
import { failureOf } from "./mcp-errors.ts";
import { discover } from "./modern/discover.ts";
import { ModernSide } from "./modern/modern-side.ts";
import { UpstreamFault } from "./transport.ts";
import type { UpstreamSession } from "./upstream-session.ts";
import { within } from "./within.ts";

/** Slow servers are started through package runners that first download them. */
const HANDSHAKE_MS = 60_000;
/** How long a process may be silent before it hears the handshake of the 2025 era as well. */
const SILENCE_MS = 5000;

/** `mayAsk`: false for a process whose forerunner ended when it was asked for its era. */
export async function settleEra(session: UpstreamSession, mayAsk: boolean): Promise<Agreement> {
  const { eras } = session.context;
  const asks = mayAsk && eras.mustAsk && session.transport.mayBeModern;
  const found = asks ? await askEra(session) : undefined;
  if (!found && !eras.allowsLegacy)
    throw new UpstreamFault({ kind: "invalid", message: "The server does not speak MCP 2026-07-28." });
  const agreement = found ?? (await shakeHands(session, sendInitialize(session)));
  eras.note(session.modern ? "2026" : "2025");
  return agreement;
}

/** Undefined: the server is of the 2025 era, and no handshake has been tried yet. */
async function askEra(session: UpstreamSession): Promise<Agreement | undefined> {
  const modern = new ModernSide(session);
  session.modern = modern;
  const asked = discover(session, HANDSHAKE_MS);
  if (session.transport.hasStreams || !session.context.eras.allowsLegacy) return leaveUnless(await asked, session);
  session.diesAsked = true;
  const inTime = await within(
    session.context.timers,
    SILENCE_MS,
    asked.then((found) => ({ found })),
  );
  if (inTime) return leaveUnless(inTime.found, session);
  // Perhaps it is of the old era and says nothing to what it does not know, perhaps it is still starting.
  session.modern = undefined;
  const opened = sendInitialize(session);
  const late = await Promise.race([asked.catch(() => undefined), opened.then(() => undefined)]);
  if (!late) return shakeHands(session, opened);
  session.diesAsked = false;
  session.modern = modern;
  return late;
}

function leaveUnless(found: Agreement | undefined, session: UpstreamSession): Agreement | undefined {
  session.diesAsked = false;
  if (!found) session.modern = undefined;
  return found;
}

function sendInitialize(session: UpstreamSession): Promise<Message> {
  const { client, gatewayVersion } = session.context;
  const answer = session.request("initialize", initializeParams(client, gatewayVersion), HANDSHAKE_MS);
  answer.catch(() => undefined); // another answer may have come first
  return answer;
}

async function shakeHands(session: UpstreamSession, opened: Promise<Message>): Promise<Agreement> {
  const { transport } = session;
  const agreement = readAgreement(await opened, session.context.declarations);
  session.diesAsked = false;
  transport.agree(agreement.version);
  const failure = await transport.send(notificationText("notifications/initialized", payload("")));
  if (failure) throw new UpstreamFault(failure);
  await transport.listen();
  return agreement;
}

/** Whether a server that was of the modern era still is; where there is no telling, it is. */
export async function isStillModern(session: UpstreamSession): Promise<boolean> {
  try {
    return (await discover(session, HANDSHAKE_MS)) !== undefined;
  } catch (error) {
    session.context.log.debug("era not confirmed", { cause: failureOf(error).message });
    return true;
  }
}
