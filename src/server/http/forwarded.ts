/**
 * What proxies say of whom they speak for, from the nearest to the farthest. Read from the right: what a client wrote itself
 * stands on the left of what the proxies added, and must not change how that is read.
 */
import type { HttpRequest } from "../../contract/index.ts";
import { type IpAddress, parseIp } from "./ip-address.ts";

/** An address, and perhaps the port of a connection or a word in its place. */
const PLAIN = /^([^:[\]]+)(?::(?:\d{1,5}|_[\w.-]+))?$/;
const BRACKETED = /^\[([^\]]*)\](?::(?:\d{1,5}|_[\w.-]+))?$/;

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const PAIR = `(${TOKEN})=(?:(${TOKEN})|"((?:[^"\\\\]|\\\\.)*)")`;
const PAIRS = new RegExp(PAIR, "g");
const ELEMENT = new RegExp(`^${PAIR}(?:[\\t ]*;[\\t ]*${PAIR})*$`);

/** Ends before the first entry that is no address: nobody vouches for what stands beyond it. */
export function* forwardedFor(headers: HttpRequest["headers"]): Generator<IpAddress, void> {
  const list = headers["x-forwarded-for"];
  const text = list ?? headers.forwarded;
  if (text === undefined) return;
  const read = list === undefined ? forIn : (entry: string) => entry;
  for (let end = text.length; end >= 0; ) {
    const comma = end === 0 ? -1 : text.lastIndexOf(",", end - 1);
    const address = addressIn(read(text.slice(comma + 1, end).trim()));
    if (address === undefined) return;
    yield address;
    end = comma;
  }
}

function addressIn(entry: string): IpAddress | undefined {
  return parseIp(entry) ?? parseIp((PLAIN.exec(entry) ?? BRACKETED.exec(entry))?.[1] ?? "");
}

/** The one `for` of an element of `Forwarded` (RFC 7239); "" where there is none, or more than one. */
function forIn(element: string): string {
  if (!ELEMENT.test(element)) return "";
  const found = [...element.matchAll(PAIRS)].filter(([, name = ""]) => name.toLowerCase() === "for");
  const [, , token, quoted = ""] = found[0] ?? [];
  return found.length === 1 ? (token ?? quoted) : "";
}
