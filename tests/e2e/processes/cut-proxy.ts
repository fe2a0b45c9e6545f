/** A way to several gateways that leads to one of them, until it is cut: then all connections break, and the next one is it. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** A request by which a client came back for the rest of a call's stream. */
export type Return = { readonly gateway: number; readonly lastEventId: string };

/** The stream of a session is not that of a call. */
const LAST_EVENT_ID = /^last-event-id: ?((?!out\.)\S+)\r$/gim;

export class CutProxy implements AsyncDisposable {
  readonly returns: Return[] = [];
  readonly #server: Server;
  readonly #ports: readonly number[];
  readonly #sockets = new Set<Socket>();
  #gateway = 0;

  private constructor(server: Server, ports: readonly number[]) {
    this.#server = server;
    this.#ports = ports;
    server.on("connection", (near) => this.#join(near));
  }

  static async start(ports: readonly number[]): Promise<CutProxy> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new CutProxy(server, ports);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/mcp`;
  }

  cut(): void {
    this.#gateway = (this.#gateway + 1) % this.#ports.length;
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  #join(near: Socket): void {
    const gateway = this.#gateway;
    const far = connect(this.#ports[gateway] as number, "127.0.0.1");
    near.on("data", (bytes: Buffer) => {
      for (const [, lastEventId = ""] of bytes.toString("latin1").matchAll(LAST_EVENT_ID)) {
        this.returns.push({ gateway, lastEventId });
      }
    });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(from);
      from.on("error", () => undefined);
      from.on("close", () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
