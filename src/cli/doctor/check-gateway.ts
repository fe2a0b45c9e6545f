/** The port: free, ours, or somebody else's; and whether a running gateway follows its config. */

import { createServer } from "node:net";
import type { Config } from "../../server/config/index.ts";
import { formatListen, ownToken } from "../../server/config/index.ts";
import { NoAnswer } from "../client/channel.ts";
import { configuredUrl } from "../client/gateway-url.ts";
import { jsonOf } from "../client/http-get.ts";
import { httpSend } from "../client/http-send.ts";
import { reasonOf } from "../client/refusal.ts";
import { objectOf } from "../json.ts";
import { type MovedGateway, movedGateway } from "../operator/moved-gateway.ts";
import { lookAsOperator } from "../operator/send-as-operator.ts";
import { PROGRAM } from "../program-name.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

const TIMEOUT_MS = 2_000;
/** This program has just read the config and found nothing wrong with it. */
const RESTART = `restart the gateway: the config can be read, and what has changed counts from a start only; "${PROGRAM} logs" says what`;

const OTHER =
  "verbs here speak to that gateway: set another listen under [gateway], or stop it and start the one of this config";

const KEPT_IN_MEMORY =
  "the running gateway began before its config: grants, tokens and the audit trail are in memory, and end with it";
const KEEP = "restart the gateway: from then on they are kept";

/** `other`: with which config the gateway there runs, where it is another. `file`: the config, where it was named. */
export async function checkGateway(config: Config, other: string | undefined, file?: string): Promise<Finding[]> {
  const { listen } = config.gateway;
  const address = formatListen(listen);
  const origin = configuredUrl(config)?.origin;
  if (origin === undefined) return [ok("port", "any free one")];
  try {
    // As nobody: whether a gateway is there is no question of who asks.
    const ready = await httpSend({
      method: "GET",
      url: new URL("/readyz", origin),
      timeoutMs: TIMEOUT_MS,
      isAnonymous: true,
    });
    const { status } = objectOf(jsonOf(ready));
    if (typeof status !== "string") return [taken(address)];
    const found = `a gateway listens on ${address} and is ${status}`;
    if (other === undefined) return [ok("port", found), ...(await checkStale(origin))];
    return [warning("port", `${found}, but it runs with another config: ${other}`, OTHER)];
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    const found = error.isNobody ? await checkFree(listen, address) : taken(address);
    const moved = await movedGateway(file);
    return [moved ? besideMoved(found, address, moved) : found];
  }
}

/** What verbs find at the address of the config is not what runs with it. */
function besideMoved({ level, found }: Finding, address: string, { found: where, advice, isMeant }: MovedGateway) {
  const text = `${level === "ok" ? `${address} is free` : found}, and ${where}`;
  return (isMeant ? warning : problem)("port", text, advice);
}

function taken(address: string): Finding {
  return problem("port", `another program listens on ${address}`, "stop it, or set another listen under [gateway]");
}

function checkFree({ host, port }: { host: string; port: number }, address: string): Promise<Finding> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", ({ message }) =>
      resolve(problem("port", `cannot listen on ${address}: ${message}`, "set another listen under [gateway]")),
    );
    server.listen({ host, port }, () => server.close(() => resolve(ok("port", `${address} is free; no gateway runs`))));
  });
}

async function checkStale(origin: string): Promise<Finding[]> {
  const order = { method: "GET", url: new URL("/api/about", origin), timeoutMs: TIMEOUT_MS };
  const answer = await lookAsOperator(order).catch(() => undefined);
  if (answer?.status === 401 && ownToken() !== undefined) {
    const found = `the gateway does not accept the token in ISTHMUS_TOKEN: ${reasonOf(answer)}`;
    return [problem("token", found, `put another one there; "${PROGRAM} token create --user NAME" makes one`)];
  }
  // Who may not look cannot tell.
  if (answer?.status !== 200) return [];
  const { isStale, kept } = objectOf(jsonOf(answer));
  return [
    isStale === true
      ? warning("reload", "the running gateway has refused its config and serves an older one", RESTART)
      : ok("reload", "the running gateway has taken over its config"),
    ...(kept === "restart" ? [warning("state", KEPT_IN_MEMORY, KEEP)] : []),
  ];
}
