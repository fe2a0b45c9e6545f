/**
 * Connections that have not shown the cluster's key: anybody may make them, so there are few at a time. For a new one the oldest
 * goes, of the network that has most of them: a member gets in, whatever strangers hold, and how often they come again.
 */
import type { Socket } from "node:net";
import { networkOf } from "../http/index.ts";

type Pending = { readonly socket: Socket; readonly network: string };

export class Handshakes {
  readonly #most: number;
  /** By both ends of the connection, in the order in which they came. */
  readonly #pending = new Map<string, Pending>();

  constructor(most: number) {
    this.#most = most;
  }

  add(socket: Socket): void {
    const key = endsOf(socket);
    // It is gone already.
    if (key === undefined) return void socket.destroy();
    if (this.#pending.size >= this.#most) this.#closeOne();
    const pending = { socket, network: networkOf(socket.remoteAddress ?? "") };
    this.#pending.set(key, pending);
    socket.once("close", () => {
      // Another one may have the same ends by now.
      if (this.#pending.get(key) === pending) this.#pending.delete(key);
    });
  }

  /** It has shown the key. `socket`: this very connection, or what speaks TLS on it. */
  end(socket: Socket): void {
    const key = endsOf(socket);
    if (key !== undefined) this.#pending.delete(key);
  }

  closeAll(): void {
    for (const { socket } of this.#pending.values()) socket.destroy();
    this.#pending.clear();
  }

  #closeOne(): void {
    const network = this.#busiest();
    for (const [key, pending] of this.#pending) {
      if (pending.network !== network) continue;
      this.#pending.delete(key);
      pending.socket.destroy();
      return;
    }
  }

  #busiest(): string | undefined {
    const counts = new Map<string, number>();
    let busiest: string | undefined;
    for (const { network } of this.#pending.values()) {
      counts.set(network, (counts.get(network) ?? 0) + 1);
      if (busiest === undefined || (counts.get(network) ?? 0) > (counts.get(busiest) ?? 0)) busiest = network;
    }
    return busiest;
  }
}

/** No two connections that are open have the same. */
function endsOf({ localAddress, localPort, remoteAddress, remotePort }: Socket): string | undefined {
  return remotePort === undefined ? undefined : `${localAddress} ${localPort} ${remoteAddress} ${remotePort}`;
}
