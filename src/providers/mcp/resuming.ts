/** Goes on with a session that another process has opened: the server is asked whether it knows it, before any call relies on it. */
import { payload } from "../../contract/index.ts";
import { failureOf } from "./mcp-errors.ts";
import type { UpstreamFailure } from "./transport.ts";
import type { UpstreamSession } from "./upstream-session.ts";

const PING_MS = 5000;
/** How servers refuse a session they do not know; some say 400, though 404 is what they should say. */
const UNKNOWN_STATUS: readonly (number | undefined)[] = [400, 404, 410];

/** False: the server does not know the session any more. Rejects with UpstreamFault; the session is then closed in both cases. */
export async function resumeSession(session: UpstreamSession): Promise<boolean> {
  const { former, transport } = session;
  let isKnown = false;
  try {
    if (former && transport.resume) {
      await transport.open(session);
      transport.resume(former.handle, former.agreement.version);
      const { capabilities, instructions } = former.agreement;
      const declared = session.context.declarations.shared(capabilities.text, instructions);
      session.agreement = { ...former.agreement, ...declared };
      isKnown = await isStillOpen(session);
      if (isKnown) await transport.listen();
    }
  } catch (error) {
    await session.close(true);
    throw error;
  }
  if (!isKnown) await session.close(true);
  return isKnown;
}

/** Rejects where a later try may find out. Where there is no telling, it is: the next call will see. */
async function isStillOpen(session: UpstreamSession): Promise<boolean> {
  try {
    await session.request("ping", payload(""), PING_MS);
    return true;
  } catch (error) {
    const failure = failureOf(error);
    if (isUnknown(failure)) return false;
    if (failure.kind === "lost" || (failure.kind === "invalid" && failure.status === undefined)) return true;
    throw error;
  }
}

function isUnknown({ kind, status, isTurnedAway }: UpstreamFailure): boolean {
  return kind === "expired" || isTurnedAway === true || UNKNOWN_STATUS.includes(status);
}
