import type { GatewayPlace } from "../../server/config/index.ts";
import { formatListen, isLoopback, reachableAt } from "../../server/config/index.ts";
import { Ending } from "../ending.ts";
import { readGatewayPlace, sayProblems } from "../own-config.ts";

/** Where a verb finds the gateway. */
export type ConnectFlags = { readonly url?: string; readonly config?: string };

/** Of the gateway that was named, else of the config's. Throws Ending. */
export function gatewayUrl({ url, config }: ConnectFlags): URL {
  if (url !== undefined) return parseGatewayUrl(url);
  const place = readGatewayPlace(config === undefined ? {} : { config });
  const configured = configuredUrl(place);
  if (configured) {
    sayProblems(place, configured);
    return configured;
  }
  throw new Ending("usage", ["gateway.listen: the config names no port; say where the gateway is with --url"]);
}

/** The endpoint that `--url` means: an address without a path is that of a gateway. Throws Ending. */
export function parseGatewayUrl(text: string): URL {
  const written = /^https?:\/\//.test(text) ? text : `http://${text}`;
  if (!URL.canParse(written)) {
    throw new Ending("usage", [
      `--url: expected an address such as http://127.0.0.1:7411, found ${JSON.stringify(text)}`,
    ]);
  }
  const url = new URL(written);
  if (url.pathname === "/") url.pathname = "/mcp";
  return url;
}

/** Where the gateway of this config is reached from here; undefined when it takes any free port. */
export function configuredUrl({ gateway: { listen, tls } }: GatewayPlace): URL | undefined {
  return listen.port === 0
    ? undefined
    : new URL(`${tls ? "https" : "http"}://${formatListen(reachableAt(listen))}/mcp`);
}

/** Whether only this machine reaches that address. */
export function isOwnAddress({ hostname }: URL): boolean {
  return isLoopback(hostname.replace(/^\[(.*)\]$/, "$1"));
}
