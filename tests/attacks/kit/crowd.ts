/** Connections that somebody holds: whichever is closed comes again, and each says something from time to time. */
import type { Duplex } from "node:stream";

export type CrowdOptions = {
  readonly connections: number;
  readonly open: () => Duplex;
  /** What the next one says when it is open. */
  readonly first: () => string;
  /** After how long what was closed comes again. */
  readonly againMs?: () => number;
  /** False: nothing that comes is read. */
  readonly reads?: boolean;
  /** Said again and again, so that it is not idle; unset: nothing. */
  readonly more?: string;
};

const AGAIN_MS = 100;
const MORE_MS = 500;

export class Crowd implements Disposable {
  readonly #options: CrowdOptions;
  readonly #held = new Set<Duplex>();
  readonly #timer: NodeJS.Timeout;
  #isOver = false;

  constructor(options: CrowdOptions) {
    this.#options = options;
    for (let count = 0; count < options.connections; count++) this.#hold();
    this.#timer = setInterval(() => this.#sayMore(), MORE_MS);
  }

  get size(): number {
    return this.#held.size;
  }

  #hold(): void {
    if (this.#isOver) return;
    const { open, first } = this.#options;
    const socket = open();
    socket.on("connect", () => {
      this.#held.add(socket);
      const text = first();
      if (text !== "") socket.write(text);
    });
    socket.on("error", () => {});
    if (this.#options.reads !== false) socket.resume();
    socket.on("close", () => {
      this.#held.delete(socket);
      setTimeout(() => this.#hold(), this.#options.againMs?.() ?? AGAIN_MS);
    });
  }

  #sayMore(): void {
    const { more } = this.#options;
    if (more !== undefined && more !== "") for (const socket of this.#held) socket.write(more);
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    clearInterval(this.#timer);
    for (const socket of this.#held) socket.destroy();
  }
}
