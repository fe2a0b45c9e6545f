/** Who may speak to us at all: keeps pages of other sites, and names that point here by DNS tricks, out. */

import type { HttpRequest, OriginFault } from "../../../contract/index.ts";

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);
const MAX_KNOWN = 256;

export type Gate = (request: HttpRequest) => OriginFault | undefined;

type Allowed = { readonly allowedHosts: readonly string[]; readonly allowedOrigins: readonly string[] };

/** The gate says what is wrong with a request, or nothing. Whoever puts other lists into `options` changes the gate. */
export function createGate(options: Allowed): Gate {
  let { isHost, isOrigin, from } = createJudges(options);
  return function gate(request) {
    if (from.allowedHosts !== options.allowedHosts || from.allowedOrigins !== options.allowedOrigins) {
      ({ isHost, isOrigin, from } = createJudges(options));
    }
    const { host, origin } = request.headers;
    if (host === undefined || !isHost(host)) return "host";
    if (origin !== undefined && !isOrigin(origin)) return "origin";
    return undefined;
  };
}

function createJudges({ allowedHosts, allowedOrigins }: Allowed) {
  const hosts = new Set(allowedHosts.map((host) => host.toLowerCase()));
  const origins = new Set(allowedOrigins.map((origin) => origin.toLowerCase()));
  return {
    from: { allowedHosts, allowedOrigins },
    isHost: remember((host) => hosts.has(host) || isLoopback(host) || hosts.has(withoutPort(host))),
    isOrigin: remember((origin) => origins.has(origin) || isLoopbackOrigin(origin)),
  };
}

function isLoopback(host: string): boolean {
  return LOOPBACK.has(withoutPort(host));
}

function withoutPort(host: string): string {
  return host.replace(/:\d{1,5}$/, "");
}

function isLoopbackOrigin(origin: string): boolean {
  const match = /^https?:\/\/([^/]+)$/.exec(origin);
  return match !== null && isLoopback(match[1] as string);
}

/** Clients send the same few values again and again. */
function remember(judge: (value: string) => boolean): (value: string) => boolean {
  const known = new Map<string, boolean>();
  return (value) => {
    const verdict = known.get(value);
    if (verdict !== undefined) return verdict;
    if (known.size >= MAX_KNOWN) known.clear();
    const fresh = judge(value.toLowerCase());
    known.set(value, fresh);
    return fresh;
  };
}
