/** Decides where a URL leads, once: what is judged here is what is connected to. */
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { isLoopbackAddress, isPublicAddress } from "./address-rules.ts";
import { EgressFault } from "./egress-fault.ts";

/** Resolves to all addresses of a name. */
export type Resolve = (host: string) => Promise<readonly { readonly address: string; readonly family: number }[]>;

/** What an operator has written down may lead anywhere. */
export type Trust = {
  /** Such as `https://login.internal:8443`. */
  readonly origins: readonly string[];
  /** Whether this machine may be reached, and without TLS. */
  readonly loopback: boolean;
};

export const NO_TRUST: Trust = { origins: [], loopback: false };

export type Found = { readonly address: string; readonly family: number };

export const resolveByDns: Resolve = (host) => lookup(host, { all: true, verbatim: true });

/** Throws EgressFault. */
export function parseUrl(text: string, base?: URL): URL {
  if (!URL.canParse(text, base?.href)) throw new EgressFault("refused", "An address is not a URL.");
  const url = new URL(text, base);
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw new EgressFault("refused", `Only https URLs are called, not ${url.protocol}//.`);
  if (url.username !== "" || url.password !== "")
    throw new EgressFault("refused", `A URL of ${url.hostname} carries credentials.`);
  return url;
}

/** Rejects with EgressFault where any address of the host is one that may not be reached. */
export async function findAddress(url: URL, trust: Trust, resolve: Resolve): Promise<Found> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const isTrusted = trust.origins.includes(url.origin);
  const found = isIP(host) === 0 ? await resolveHost(host, resolve) : [{ address: host, family: isIP(host) }];
  const [first] = found;
  if (!first) throw new EgressFault("unreachable", `The name ${host} has no address.`);
  if (isTrusted) return first;
  const isHere = trust.loopback && found.every(({ address }) => isLoopbackAddress(address));
  if (!isHere && url.protocol !== "https:")
    throw new EgressFault("refused", `${host} is called with https only; it named an http URL.`);
  if (!isHere && !found.every(({ address }) => isPublicAddress(address)))
    throw new EgressFault("refused", `${host} is no address of the public internet.`);
  return first;
}

async function resolveHost(host: string, resolve: Resolve): Promise<readonly Found[]> {
  try {
    return await resolve(host);
  } catch (cause) {
    throw new EgressFault("unreachable", `The name ${host} cannot be resolved.`, cause);
  }
}
