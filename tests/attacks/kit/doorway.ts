/** One address for whichever gateway is attacked just now: browsers come back to it. */
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export class Doorway implements AsyncDisposable {
  readonly url: string;
  /** The origin that it leads to. */
  to = "";
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async open(): Promise<Doorway> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen({ host: "127.0.0.1", port: 0 }, resolve));
    const doorway = new Doorway(server);
    server.on("request", (incoming, response) => {
      const target = new URL(incoming.url ?? "/", doorway.to);
      const headers = { ...incoming.headers, host: target.host };
      const outgoing = request(target, { method: incoming.method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      outgoing.on("error", () => response.writeHead(502).end());
      incoming.pipe(outgoing);
    });
    return doorway;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
