/** IP addresses as numbers, so that one address has one form however it was written. */
import { isIPv4, isIPv6 } from "node:net";

/** In words of 16 bits: two for IPv4, also where it was written as IPv6 (`::ffff:10.0.0.1`); eight for IPv6. */
export type IpAddress = readonly number[];

const IPV6_WORDS = 8;
/** The words before an IPv4 address that is written as IPv6. */
const MAPPED = [0, 0, 0, 0, 0, 0xffff];

/** Undefined: this is no address. One that names a network interface (`fe80::1%eth0`) means nothing to others. */
export function parseIp(text: string): IpAddress | undefined {
  if (isIPv4(text)) return wordsOfIpv4(text);
  if (!isIPv6(text) || text.includes("%")) return undefined;
  const words = wordsOfIpv6(text);
  return isMapped(words) ? words.slice(MAPPED.length) : words;
}

function wordsOfIpv4(text: string): number[] {
  const [a = 0, b = 0, c = 0, d = 0] = text.split(".").map(Number);
  return [a * 256 + b, c * 256 + d];
}

function wordsOfIpv6(text: string): number[] {
  const [before = "", after] = text.split("::");
  const [left, right] = [wordsIn(before), wordsIn(after ?? "")];
  const omitted = after === undefined ? 0 : IPV6_WORDS - left.length - right.length;
  return [...left, ...new Array<number>(omitted).fill(0), ...right];
}

function wordsIn(text: string): number[] {
  if (text === "") return [];
  return text.split(":").flatMap((part) => (part.includes(".") ? wordsOfIpv4(part) : [Number.parseInt(part, 16)]));
}

function isMapped(words: readonly number[]): boolean {
  return MAPPED.every((word, index) => words[index] === word);
}

/** As RFC 5952 has it: lower case, without leading zeros, and the longest row of zeros as "::". */
export function formatIp(address: IpAddress): string {
  if (address.length < IPV6_WORDS) return address.flatMap((word) => [word >> 8, word & 0xff]).join(".");
  const { start, length } = longestZeros(address);
  const textOf = (words: readonly number[]) => words.map((word) => word.toString(16)).join(":");
  if (length < 2) return textOf(address);
  return `${textOf(address.slice(0, start))}::${textOf(address.slice(start + length))}`;
}

function longestZeros(words: readonly number[]): { start: number; length: number } {
  let longest = { start: 0, length: 0 };
  let length = 0;
  words.forEach((word, index) => {
    length = word === 0 ? length + 1 : 0;
    if (length > longest.length) longest = { start: index + 1 - length, length };
  });
  return longest;
}
