/** A way to a store that can be made bad: late, cut, or open at this end and dead at the other. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** pass: as if it were not there. delay: every byte comes late. reset: connections are cut. half-open: bytes vanish. */
export type Fault = "pass" | "delay" | "reset" | "half-open";

const DELAY_MS = 3_000;

export class FaultProxy {
  readonly port: number;
  readonly #server: ReturnType<typeof createServer>;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #fault: Fault = "pass";

  private constructor(server: ReturnType<typeof createServer>) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
  }

  static async start(target: number): Promise<FaultProxy> {
    const server = createServer({ pauseOnConnect: false });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const proxy = new FaultProxy(server);
    server.on("connection", (socket) => proxy.#join(socket, target));
    return proxy;
  }

  set(fault: Fault): void {
    // Bytes are missing in what was half open: nobody can go on with it.
    const mustCut = fault === "reset" || this.#fault === "half-open";
    this.#fault = fault;
    if (mustCut) for (const pair of this.#pairs) for (const socket of pair) socket.resetAndDestroy();
  }

  #join(near: Socket, target: number): void {
    if (this.#fault === "reset") return void near.resetAndDestroy();
    const far = connect(target, "127.0.0.1");
    const pair = [near, far] as const;
    this.#pairs.add(pair);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on("data", (chunk) => this.#carry(chunk, to));
      from.on("error", () => undefined);
      from.on("close", () => {
        this.#pairs.delete(pair);
        if (this.#fault !== "half-open") to.destroy();
      });
    }
  }

  #carry(chunk: Buffer, to: Socket): void {
    if (this.#fault === "half-open") return;
    if (this.#fault === "delay") setTimeout(() => to.writable && to.write(chunk), DELAY_MS);
    else if (to.writable) to.write(chunk);
  }

  async close(): Promise<void> {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
