/**
 * Connections that have not come through their handshake: anybody may make them, so there are few at a time. For a new one the oldest
 * goes, of the network that has most of them, and first such as have not said enough to be answered: others get in, whatever strangers
 * hold, and how often they come again.
 */
import type { Socket } from "node:net";
import { networkOf } from "./edge-limiter.ts";

/** By both ends of the connection, in the order in which they came. */
type Pending = Map<string, Socket>;

/** So many are looked at for one that has not been answered. */
const MOST_LOOKED_AT = 100;

// Invariants:
//  1. `#size` is the number of all that are in `#networks`, in which none is empty.
export class Handshakes {
  readonly #most: number;
  readonly #networks = new Map<string, Pending>();
  #size = 0;

  constructor(most: number) {
    this.#most = most;
  }

  add(socket: Socket): void {
    const key = endsOf(socket);
    // It is gone already.
    if (key === undefined) return void socket.destroy();
    if (this.#size >= this.#most) this.#closeOne();
    const network = networkOf(socket.remoteAddress ?? "");
    // Another one may have had the same ends.
    this.#forget(network, key);
    const pending = this.#networks.get(network);
    if (pending) pending.set(key, socket);
    else this.#networks.set(network, new Map([[key, socket]]));
    this.#size++;
    socket.once("close", () => {
      if (this.#networks.get(network)?.get(key) === socket) this.#forget(network, key);
    });
  }

  /** It has come through. `socket`: this very connection, or what speaks TLS on it. */
  end(socket: Socket): void {
    const key = endsOf(socket);
    if (key !== undefined) this.#forget(networkOf(socket.remoteAddress ?? ""), key);
  }

  closeAll(): void {
    const all = [...this.#networks.values()].flatMap((pending) => [...pending.values()]);
    this.#networks.clear();
    this.#size = 0;
    for (const socket of all) socket.destroy();
  }

  #closeOne(): void {
    let busiest: string | undefined;
    let most = 0;
    for (const [network, { size }] of this.#networks) {
      if (size <= most) continue;
      most = size;
      busiest = network;
    }
    const pending = busiest === undefined ? undefined : this.#networks.get(busiest);
    if (busiest === undefined || !pending) return;
    const [key, socket] = slowestOf(pending) ?? [];
    if (key !== undefined) this.#forget(busiest, key);
    socket?.destroy();
  }

  #forget(network: string, key: string): void {
    const pending = this.#networks.get(network);
    if (!pending?.delete(key)) return;
    this.#size--;
    if (pending.size === 0) this.#networks.delete(network);
  }
}

function slowestOf(pending: Pending): [key: string, socket: Socket] | undefined {
  let first: [key: string, socket: Socket] | undefined;
  let looked = 0;
  for (const one of pending) {
    if (one[1].bytesWritten === 0) return one;
    first ??= one;
    if (++looked === MOST_LOOKED_AT) break;
  }
  return first;
}

/** No two connections that are open have the same. */
function endsOf({ localAddress, localPort, remoteAddress, remotePort }: Socket): string | undefined {
  return remotePort === undefined ? undefined : `${localAddress} ${localPort} ${remoteAddress} ${remotePort}`;
}
