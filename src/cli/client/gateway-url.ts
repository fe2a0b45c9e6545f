import type { Config } from "../../server/config/index.ts";
import { formatListen } from "../../server/config/index.ts";
import { Ending } from "../ending.ts";

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

/** Where the gateway of this config listens; undefined when it takes any free port. */
export function configuredUrl({ gateway: { listen, tls } }: Config): URL | undefined {
  return listen.port === 0 ? undefined : new URL(`${tls ? "https" : "http"}://${formatListen(listen)}/mcp`);
}
