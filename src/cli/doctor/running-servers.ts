/** What the gateway that runs says of its servers: it may have started what cannot be started here, and the other way round. */

import type { Config, ServerConfig } from "../../server/config/index.ts";
import { NoAnswer } from "../client/channel.ts";
import { configuredUrl } from "../client/gateway-url.ts";
import { jsonOf } from "../client/http-get.ts";
import { Ending } from "../ending.ts";
import { objectOf, objectsIn, textOf } from "../json.ts";
import { lookAsOperator } from "../operator/send-as-operator.ts";
import { plainLine } from "../output/plain.ts";
import { PROGRAM } from "../program-name.ts";
import { type Finding, ok, warning } from "./finding.ts";

export type RunningServer = { readonly status: string; readonly message: string };

const TIMEOUT_MS = 2_000;

/** By their ids. Empty where no gateway runs, or it does not let us look. */
export async function runningServers(config: Config): Promise<ReadonlyMap<string, RunningServer>> {
  const url = configuredUrl(config);
  if (!url) return new Map();
  try {
    const order = { method: "GET", url: new URL("/api/servers", url), timeoutMs: TIMEOUT_MS };
    const { servers } = objectOf(jsonOf(await lookAsOperator(order)));
    const told = objectsIn(servers).map(({ id, status, message }) => {
      return [textOf(id) ?? "", { status: textOf(status) ?? "", message: textOf(message) ?? "" }] as const;
    });
    return new Map(told);
  } catch (error) {
    if (error instanceof NoAnswer || error instanceof Ending) return new Map();
    throw error;
  }
}

type BesideRunning = {
  readonly server: Pick<ServerConfig, "id">;
  readonly running: ReadonlyMap<string, RunningServer>;
  /** Here, for somebody to sign in. */
  readonly isWaiting: boolean;
};

/** What was found here, with what the gateway that runs says to the contrary. */
export function besideRunning(found: Finding, { server, running, isWaiting }: BesideRunning): Finding {
  const { status, message } = running.get(server.id) ?? {};
  // What somebody has allowed it to use is its own: one that is started here has no part in it.
  if (status === "ok" && isWaiting) return ok(found.what, "the running gateway may use it");
  if (status === "ok" && found.level === "problem") {
    const text = `the running gateway reaches it; a second one, started here, does not: ${found.found}`;
    return warning(found.what, text, found.advice ?? "");
  }
  const isDown = status === "unreachable" || status === "failed" || status === "invalid";
  if (!isDown || found.level !== "ok") return found;
  const why = message ? `, ${plainLine(message)}` : "";
  const text = `${found.found} when it is started here, but for the running gateway it is ${status}${why}`;
  return warning(
    found.what,
    text,
    `"${PROGRAM} logs" says more; what the gateway was started with may differ from this shell`,
  );
}
