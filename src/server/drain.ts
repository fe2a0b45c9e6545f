/** How a gateway goes: what runs may end, and what others can go on with is left to them. */
import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";
import type { McpFront } from "../fronts/mcp/index.ts";
import type { Kernel } from "../kernel/index.ts";
import type { SessionRegistry } from "../mechanisms/sessions/index.ts";
import { systemClock } from "./clock.ts";
import type { HttpServer } from "./http-server.ts";
import type { Cluster } from "./state/index.ts";

export type DrainedParts = {
  readonly front: Pick<McpFront, "leave" | "waiting">;
  readonly http: Pick<HttpServer, "isListening" | "leave" | "takeWaiting" | "stopAccepting" | "closeIdle">;
  readonly cluster:
    | {
        readonly hop?: Pick<NonNullable<Cluster["hop"]>, "passing" | "drain">;
        readonly homes?: Pick<NonNullable<Cluster["homes"]>, "leave">;
      }
    | undefined;
  readonly sessions: Pick<SessionRegistry, "releaseIdle">;
  readonly kernel: { stats(): Pick<ReturnType<Kernel["stats"]>, "open"> };
  readonly drainMs: number;
};

const POLL_MS = 20;
const FAREWELL_MS = 1_000;
const LINGER_MS = 500;
/** A store that does not answer must not keep the process from stopping. */
export const HAND_OVER_MS = 2_000;

/** Takes nothing new, lets what runs end for a while, and leaves to others what they can go on with. */
export async function drain({ front, http, cluster, sessions, kernel, drainMs }: DrainedParts): Promise<void> {
  const began = systemClock.now();
  const deadline = began + drainMs;
  const isRunning = () => kernel.stats().open > front.waiting;
  /** Calls run here, or elsewhere for clients that are connected here. */
  const isAtWork = () => isRunning() || (cluster?.hop?.passing ?? 0) > 0;
  const leaveMore = async () => {
    await sleep(POLL_MS);
    if (cluster?.hop) await Promise.race([sessions.releaseIdle(), sleep(HAND_OVER_MS, undefined, { ref: false })]);
    // Children that others share end here and begin elsewhere as soon as nobody uses them.
    await cluster?.homes?.leave(() => !isRunning());
    // Timers come before sockets: after a pause of this process (a collection, say) requests wait to be read, and whoever looks now
    // whether anything runs would close their connections. The second turn is for those that wait for the first.
    await turn();
    await turn();
  };
  front.leave();
  http.leave();
  cluster?.hop?.drain();
  // Still accepting: whoever balances load must hear from /readyz that it should go elsewhere, and learn with the next
  // answer that its connection is not to be used again.
  // A verb that uses the stores listens nowhere: nobody is on the way to it.
  const isKnown = cluster?.hop !== undefined && http.isListening;
  const farewell = isKnown ? began + FAREWELL_MS : began;
  while (systemClock.now() < deadline && (isRunning() || systemClock.now() < farewell)) await leaveMore();
  // What is sent on comes as long as connections are taken: only now can it end.
  await http.takeWaiting();
  http.stopAccepting();
  // Requests are still on their way on connections that were kept.
  const linger = isKnown ? systemClock.now() + LINGER_MS : began;
  if (!isKnown) http.closeIdle();
  if (cluster?.hop && !isKnown) await leaveMore();
  while (systemClock.now() < deadline && (isAtWork() || systemClock.now() < linger)) await leaveMore();
  http.closeIdle();
}
