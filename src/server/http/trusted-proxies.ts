/** Who a client is: the other end of its connection, or whom a proxy of ours says that it speaks for. */
import type { HttpRequest } from "../../contract/index.ts";
import { forwardedFor } from "./forwarded.ts";
import { formatIp, type IpAddress, parseIp } from "./ip-address.ts";
import { type IpNetwork, isInNetwork, parseNetwork } from "./ip-network.ts";

export class TrustedProxies {
  readonly #networks: readonly IpNetwork[];
  /** Requests of one connection have the same headers again and again. */
  readonly #known = new WeakMap<HttpRequest["headers"], string>();

  /** Throws on what is neither an address nor a network. */
  constructor(networks: readonly string[] = []) {
    this.#networks = networks.map((text) => {
      const network = parseNetwork(text);
      if (network === undefined) throw new Error(`${text} is neither an address nor a network`);
      return network;
    });
  }

  /**
   * In the one form that an address has. `peer`: the other end of the connection on which these headers came. Only a proxy
   * that is trusted is believed, and so is one that it names; whoever else says something of addresses is not heard.
   */
  addressOf(peer: string, headers: HttpRequest["headers"]): string {
    const known = this.#known.get(headers);
    if (known !== undefined) return known;
    const address = this.#find(peer, headers);
    this.#known.set(headers, address);
    return address;
  }

  #find(peer: string, headers: HttpRequest["headers"]): string {
    // What follows "%" is a name that only this machine knows.
    const nearest = parseIp(peer.replace(/%.*$/, ""));
    return nearest === undefined ? peer : formatIp(this.#walk(nearest, headers));
  }

  /** From proxy to proxy, up to the first address that is none of ours. */
  #walk(nearest: IpAddress, headers: HttpRequest["headers"]): IpAddress {
    let address = nearest;
    if (!this.#isTrusted(address)) return address;
    for (const named of forwardedFor(headers)) {
      address = named;
      if (!this.#isTrusted(address)) break;
    }
    return address;
  }

  #isTrusted(address: IpAddress): boolean {
    return this.#networks.some((network) => isInNetwork(address, network));
  }
}
