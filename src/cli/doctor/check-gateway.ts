/** The port: free, ours, or somebody else's; and whether a running gateway follows its config. */
import { createServer } from "node:net";
import type { Config } from "../../server/config/index.ts";
import { formatListen } from "../../server/config/index.ts";
import { NoAnswer } from "../client/channel.ts";
import { configuredUrl } from "../client/gateway-url.ts";
import { httpGet, jsonOf } from "../client/http-get.ts";
import { objectOf } from "../json.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

const TIMEOUT_MS = 2_000;

export async function checkGateway(config: Config): Promise<Finding[]> {
  const { listen } = config.gateway;
  const address = formatListen(listen);
  const origin = configuredUrl(config)?.origin;
  if (origin === undefined) return [ok("port", "any free one")];
  try {
    const ready = await httpGet(new URL("/readyz", origin), TIMEOUT_MS);
    const { status } = objectOf(jsonOf(ready));
    if (typeof status !== "string") return [taken(address)];
    return [ok("port", `a gateway listens on ${address} and is ${status}`), ...(await checkStale(origin))];
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    return [error.isNobody ? await checkFree(listen, address) : taken(address)];
  }
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
  const metrics = await httpGet(new URL("/metrics", origin), TIMEOUT_MS).catch(() => undefined);
  // Who may not look cannot tell.
  if (metrics?.status === 401 || metrics?.status === 403) return [];
  const isStale = /^isthmus_config_stale 1$/m.test(metrics?.text ?? "");
  if (!isStale) return [ok("reload", "the running gateway has taken over its config")];
  return [
    warning("reload", "the running gateway has refused its config and serves an older one", "correct the config"),
  ];
}
