/** Which addresses a request that somebody else chose may reach: those of the public internet, and no other. */
import { BlockList, isIP } from "node:net";

const NOT_PUBLIC = {
  ipv4: [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
  ],
  // Of 2000::/3, which is all that is public: what carries another address inside it, and what nobody has.
  ipv6: ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"],
} as const;

type Lists = { readonly refused: BlockList; readonly globalV6: BlockList; readonly loopback: BlockList };

let made: Lists | undefined;

/** Made when the first address is judged: most starts judge none. */
function lists(): Lists {
  if (made) return made;
  made = { refused: new BlockList(), globalV6: new BlockList(), loopback: new BlockList() };
  for (const type of ["ipv4", "ipv6"] as const) {
    for (const range of NOT_PUBLIC[type]) addRange(made.refused, range, type);
  }
  addRange(made.globalV6, "2000::/3", "ipv6");
  addRange(made.loopback, "127.0.0.0/8", "ipv4");
  addRange(made.loopback, "::1/128", "ipv6");
  return made;
}

function addRange(list: BlockList, range: string, type: "ipv4" | "ipv6"): void {
  const [network = "", bits] = range.split("/");
  list.addSubnet(network, Number(bits), type);
}

/** `address`: as a resolver gives it, without brackets. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  const { refused, globalV6 } = lists();
  if (version === 4) return !refused.check(address, "ipv4");
  return version === 6 && globalV6.check(address, "ipv6") && !refused.check(address, "ipv6");
}

export function isLoopbackAddress(address: string): boolean {
  const version = isIP(address);
  return version !== 0 && lists().loopback.check(address, version === 4 ? "ipv4" : "ipv6");
}
