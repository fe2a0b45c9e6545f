/** Networks in CIDR notation; a single address is the network of itself. */
import { formatIp, type IpAddress, parseIp } from "./ip-address.ts";

export type IpNetwork = { readonly address: IpAddress; readonly bits: number };

const WORD_BITS = 16;
const IPV6_BITS = 128;
/** How many bits stand before an IPv4 address that is written as IPv6. */
const MAPPED_BITS = 96;

/** Undefined: it is none, or names an address inside of the network that its length says. */
export function parseNetwork(text: string): IpNetwork | undefined {
  const network = readNetwork(text);
  return network && isSame(network.address, firstOf(network)) ? network : undefined;
}

/** What was probably meant by a text that is no network: the one around the address that it names. */
export function meantNetwork(text: string): string | undefined {
  if (text.toLowerCase() === "localhost") return "127.0.0.1";
  const network = readNetwork(text);
  return network && `${formatIp(firstOf(network))}/${network.bits}`;
}

export function isInNetwork(address: IpAddress, { address: first, bits }: IpNetwork): boolean {
  if (address.length !== first.length) return false;
  for (let index = 0, left = bits; left > 0; index++, left -= WORD_BITS) {
    if ((((address[index] as number) ^ (first[index] as number)) & maskOf(left)) !== 0) return false;
  }
  return true;
}

function readNetwork(text: string): IpNetwork | undefined {
  const [, host = "", digits] = /^([^/]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? [];
  const address = parseIp(host);
  if (address === undefined) return undefined;
  const whole = address.length * WORD_BITS;
  if (digits === undefined) return { address, bits: whole };
  const isMapped = whole < IPV6_BITS && host.includes(":");
  const bits = Number(digits) - (isMapped ? MAPPED_BITS : 0);
  return bits < 0 || bits > whole ? undefined : { address, bits };
}

function firstOf({ address, bits }: IpNetwork): IpAddress {
  return address.map((word, index) => word & maskOf(bits - index * WORD_BITS));
}

/** Of one word: `bits` ones, then zeros. */
function maskOf(bits: number): number {
  if (bits <= 0) return 0;
  return bits >= WORD_BITS ? 0xffff : (0xffff << (WORD_BITS - bits)) & 0xffff;
}

function isSame(one: IpAddress, other: IpAddress): boolean {
  return one.every((word, index) => word === other[index]);
}
