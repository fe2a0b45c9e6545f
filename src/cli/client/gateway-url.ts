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
  const url = addressOf(text);
  if (!url) {
    const meant = /^:?\d{1,5}$/.test(text)
      ? `; for a port of this machine write 127.0.0.1:${text.replace(":", "")}`
      : "";
    throw new Ending("usage", [
      `--url: expected an address such as http://127.0.0.1:7411 or 127.0.0.1:7411, found ${JSON.stringify(text)}${meant}`,
    ]);
  }
  if (url.pathname === "/") url.pathname = "/mcp";
  return url;
}

/** Undefined: it is neither an http(s) URL nor HOST:PORT. A number alone is no host, although URLs take it for one: 7412 is 0.0.28.244. */
function addressOf(text: string): URL | undefined {
  const isUrl = /^https?:\/\//i.test(text);
  if (!isUrl && !/^(?:\[[^\]\s]+\]|[^\s:/?#@[\]]+):\d{1,5}(?:[/?#]|$)/.test(text)) return undefined;
  const written = isUrl ? text : `http://${text}`;
  if (/^https?:\/+\d+(?:[:/?#]|$)/i.test(written)) return undefined;
  return URL.canParse(written) ? new URL(written) : undefined;
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
