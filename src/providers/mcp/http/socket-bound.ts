import { Socket } from "node:net";
import { GatewayError } from "../../../contract/index.ts";
import type { OpenedSocket, SocketOpener } from "./open-socket.ts";

/** A server has two pools, one for requests and one for streams: together they may have half of all. */
const PART_OF_POOL = 4;

/**
 * How many sockets to servers this process may have, all servers together. What is open is a file, and files are wanted for
 * clients, children and stores, too.
 */
export class SocketBound {
  /** How many of them one pool may have: no server shall take all. */
  readonly ofPool: number;
  readonly #most: number;
  #open = 0;

  constructor(most: number) {
    this.#most = most;
    this.ofPool = Math.max(1, Math.floor(most / PART_OF_POOL));
  }

  /** The same opener, which opens nothing where there are too many. */
  within(connect: SocketOpener): SocketOpener {
    return (reader) => {
      if (this.#open >= this.#most) return this.#refused();
      const opened = connect(reader);
      this.#open++;
      opened.socket.once("close", () => {
        this.#open--;
      });
      return opened;
    };
  }

  /** A socket that ends with the reason, as one does that cannot be opened. */
  #refused(): OpenedSocket {
    const socket = new Socket();
    const message = `The gateway has ${this.#most} connections to servers open, as many as it may have with so few open files (ulimit -n).`;
    socket.destroy(new GatewayError("OVERLOADED", { message }));
    return { socket, openEvent: "connect" };
  }
}
