/** Where the gateway listens: `HOST:PORT`, with `[…]` around an IPv6 address. Port 0 takes any free one. */
import { isIPv6 } from "node:net";

export type ListenAddress = { readonly host: string; readonly port: number };

export function parseListen(text: string): ListenAddress | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  if (host === undefined || port > 65_535) return undefined;
  if (bracketed !== undefined && !isIPv6(bracketed)) return undefined;
  return { host, port };
}

export function formatListen({ host, port }: ListenAddress): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Where a program on this machine reaches it: "every address" is none that can be connected to. */
export function reachableAt({ host, port }: ListenAddress): ListenAddress {
  if (host === "0.0.0.0") return { host: "127.0.0.1", port };
  return isIPv6(host) && /^[0:]+$/.test(host) ? { host: "::1", port } : { host, port };
}

/** Names and addresses that only this machine reaches. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}
