/** Requests whose session is not known here: it may be at home in another process, or its home may be gone. */
import {
  GatewayError,
  type HttpRequest,
  type HttpResponse,
  jsonText,
  type Member,
  payload,
} from "../../../contract/index.ts";
import type { Located, Rebuilding, Session } from "../../../mechanisms/sessions/index.ts";
import type { FrontCluster, FrontContext } from "../front-context.ts";
import { subscribeAll } from "../subscribe-call.ts";
import { refuse } from "./refuse.ts";
import { NO_SUCH_SESSION } from "./session-refusals.ts";
import { unavailable } from "./unavailable.ts";

/** How many processes a request may pass: homes move, but not that often. */
export const MOST_PASSED = 3;
const POLL_MS = 250;
/** Beyond the lease of a home that does not answer. */
const GRACE_MS = 2000;

export type Errand = {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly body: string;
  readonly sessionId: string;
  readonly catalog: string;
  /** The JSON-RPC id that a refusal bears. */
  readonly id: string;
  /** It may be done twice. */
  readonly isHarmless: boolean;
  serve(session: Session): void;
  /** It may have been done, by a process that is gone. */
  unknown(): void;
};

/** Serves it where its session lives. The response is always ended, sooner or later. */
export function seek(front: FrontContext, errand: Errand): void {
  run(front, errand).catch((cause) => {
    if (!GatewayError.is(cause)) front.log.error("request failed inside the gateway", { cause });
    refuse(front, errand, unavailable(cause, errand.id));
  });
}

async function run(front: FrontContext, errand: Errand): Promise<void> {
  const { cluster, clock } = front;
  const { response, id } = errand;
  const giveUpAt = clock.now() + (cluster?.leaseMs ?? 0) + GRACE_MS;
  while (!response.isOver) {
    const located = await locate(front, errand);
    if (response.isOver) return;
    if (located.type === "here") return errand.serve(located.session);
    if (located.type === "nowhere") return refuse(front, errand, { ...NO_SUCH_SESSION, id });
    if (cluster && (await handOver(cluster, errand, located.home)) === "done") return;
    if (clock.now() >= giveUpAt) throw between();
    await new Promise<void>((resolve) => front.timers.after(POLL_MS, resolve));
  }
}

function locate(front: FrontContext, { request, sessionId, catalog }: Errand): Promise<Located> {
  const wanted = { id: sessionId, principal: request.principal, catalog };
  return front.sessions.locate(wanted, rebuildingOf(front));
}

/** again: the home is gone, or will be, and nothing was done that must not be done again. */
async function handOver({ hop }: FrontCluster, errand: Errand, home: Member): Promise<"done" | "again"> {
  const { request, response, body } = errand;
  if (!hop || home.address === "") return "again";
  if (hop.passed(request) >= MOST_PASSED) throw between();
  const end = await hop.forward(request, body, response, home);
  if (end.type === "answered" || response.isOver) return "done";
  if (!end.wasSent || errand.isHarmless) return "again";
  errand.unknown();
  return "done";
}

function between(): GatewayError {
  const message = "The session is on its way from one process to another; try again.";
  return new GatewayError("STATE_UNAVAILABLE", { message });
}

/** What a session needs to live here that was at home elsewhere before. */
function rebuildingOf(front: FrontContext): Rebuilding {
  return {
    voice: front.voice,
    async enter(session) {
      await front.catalog.enter(session.catalog, session);
      session.isEntered = true;
    },
    entered(session) {
      front.auditListeners.add(session);
      const { catalog, logLevel } = session;
      if (logLevel !== undefined) {
        front.catalog.notify(catalog, session, "logging/setLevel", payload(jsonText({ level: logLevel })));
      }
      subscribeAll(front, session).catch((cause) => front.log.error("subscriptions not renewed", { cause }));
    },
  };
}
