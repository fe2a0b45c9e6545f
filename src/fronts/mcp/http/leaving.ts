/** A process that is about to stop takes nothing new: it hands requests to another process, or asks to come again. */
import { GatewayError, type HttpRequest, type HttpResponse, type Member } from "../../../contract/index.ts";
import type { Session } from "../../../mechanisms/sessions/index.ts";
import type { FrontContext } from "../front-context.ts";
import { refuse } from "./refuse.ts";
import { MOST_PASSED } from "./seek.ts";
import { unavailable } from "./unavailable.ts";

export type Leaver = {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  readonly body: string;
  /** The JSON-RPC id that a refusal bears. */
  readonly id: string;
  /** What it belongs to, where that is still here: it goes along. */
  readonly session?: Session | undefined;
  /** It may have been done, by a process that is gone. */
  unknown(): void;
};

/** Lets another process answer. The response is always ended, sooner or later. */
export function sendOn(front: FrontContext, leaver: Leaver): void {
  run(front, leaver).catch((cause) => {
    if (!GatewayError.is(cause)) front.log.error("request failed inside the gateway", { cause });
    refuse(front, leaver, unavailable(cause, leaver.id));
  });
}

async function run(front: FrontContext, { request, response, body, session, unknown }: Leaver): Promise<void> {
  const hop = front.cluster?.hop;
  if (!hop || hop.passed(request) >= MOST_PASSED) throw stopping();
  const others = await othersThan(front, hop.self.id);
  if (others.length === 0) throw stopping();
  if (session) await front.sessions.release(session);
  for (const other of others) {
    if (response.isOver) return;
    const end = await hop.forward(request, body, response, other);
    if (end.type === "answered") return;
    if (end.wasSent) return unknown();
  }
  throw stopping();
}

/** In any order: whoever stops next must not get everything. */
async function othersThan({ cluster }: FrontContext, self: string): Promise<readonly Member[]> {
  const members = (await cluster?.state.members.list()) ?? [];
  const others = members.filter(({ id, address }) => id !== self && address !== "");
  const first = Math.floor(Math.random() * others.length);
  return [...others.slice(first), ...others.slice(0, first)];
}

function stopping(): GatewayError {
  return new GatewayError("NOT_READY", { message: "This process of the gateway is stopping; try again." });
}
